// Builds the pages into packages/idem/dist/dashboard, from where the server hands them out. `npm run dev` beside a running `idem dev` asks it for data.
import { defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
  // The mount path is known only when the page is asked for: the server writes it over these relative addresses.
  base: "./",
  build: {
    outDir: "../idem/dist/dashboard",
    // Written over, never removed first: a running server goes on reading what it knows.
    emptyOutDir: false,
    // Data addresses in style sheets would need a wider policy; every file is a file.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
    // Of the libraries in these files, whose licences ask to be handed on with them.
    license: { fileName: "licenses.md" },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 800,
    rolldownOptions: {
      onLog: (level, log, handle) => {
        // A browser has no Node: something that the pages import leads to it.
        if (/externalized for browser compatibility/.test(log.message)) throw new Error(log.message);
        // Marks for servers that draw pages; there is none here.
        if (log.code !== "MODULE_LEVEL_DIRECTIVE") handle(level, log);
      },
    },
  },
  server: { proxy: { "/api": "http://127.0.0.1:8288" } },
});
