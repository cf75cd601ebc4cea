// Loaded before a process under attack (`--expose-gc --import`): collects its garbage on request, so that what is left is what it keeps.
process.on("message", (message) => {
  if (message !== "collect") return;
  globalThis.gc?.();
  process.send!({ collected: true });
});
// Listening keeps nobody alive.
process.channel?.unref();
