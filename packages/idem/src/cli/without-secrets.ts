// The last gate before a screen or a log: whatever a message quotes, the password of an address in it is left out.

const credentials = /([a-z][a-z0-9+.-]*:\/\/)[^\s"'<>:@/]*:[^\s"'<>]*@/gi;
const secretWords = /([?&]password=)[^&\s"'<>]*/gi;

export const withoutSecrets = (text: string): string => text.replace(credentials, "$1…@").replace(secretWords, "$1…");
