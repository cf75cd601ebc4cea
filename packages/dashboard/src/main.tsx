import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiError, onSignedOut } from "./api/client.ts";
import { live } from "./api/live.ts";
import { startKeys } from "./keys.ts";
import { hasPage } from "./pages.ts";
import { startLanguage } from "./readable-language.ts";
import { router } from "./routes.tsx";
import { startSettings } from "./settings.ts";
import "./styles/tokens.css";
import "./styles/base.css";

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // Once more after a hiccup of the line; what the server refused it will refuse again.
      retry: (failures, error) => failures < 1 && error instanceof ApiError && error.status === 0,
      refetchOnWindowFocus: false,
      staleTime: 5_000,
    },
  },
});

// A person asked to sign in comes back to where they were.
onSignedOut(() => {
  if (!hasPage("/login") || router.state.location.pathname.endsWith("/login")) return;
  void router.navigate({ to: "/login", search: { to: router.state.location.href }, replace: true });
});

startLanguage();
startSettings();
startKeys();
live.start();

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
