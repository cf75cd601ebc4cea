// For the count of false alarms in docs/lint.md: npx eslint --no-config-lookup -c packages/eslint-plugin/own-code.config.mjs examples acceptance
import parser from "@typescript-eslint/parser";
import idem from "./dist/index.js";

export default [
  { ignores: ["**/dist/**", "**/*.test.ts", "**/*.suite.ts"] },
  { files: ["**/*.{ts,mjs}"], ...idem.configs.recommended, languageOptions: { parser } },
];
