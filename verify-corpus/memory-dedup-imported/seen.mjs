export const seen = new Set();
