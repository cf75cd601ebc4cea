// docs/verify.md
// #region verify-next
export default {
  functions: { "confirm-order": { event: { name: "order/placed", data: { orderId: 7 } } } },
  databases: [{ file: "./shop.db" }],
};
// #endregion
