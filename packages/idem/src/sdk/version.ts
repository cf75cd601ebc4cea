// Told to servers with every answer. Written here and not read from package.json, which bundlers leave behind.
export const version = "0.1.0";
