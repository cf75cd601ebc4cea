// docs/verify.md
// #region verify-databases
export default {
  databases: [
    { file: "./shop.db" }, // of SQLite: each world has a copy
    { env: "DATABASE_URL", migrate: "npm run migrate" }, // of PostgreSQL: scratch databases, with the tables this command makes
  ],
};
// #endregion
