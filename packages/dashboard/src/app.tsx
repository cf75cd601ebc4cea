// The whole application, without the page it is put into: `main.tsx` starts it in a browser, tests in a document of their own.
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { ApiError, onSignedOut } from "./api/client.ts";
import { live } from "./api/live.ts";
import { startKeys } from "./keys.ts";
import { hasPage } from "./pages.ts";
import { startLanguage } from "./readable-language.ts";
import { router } from "./routes.tsx";
import { startSettings } from "./settings.ts";

export const newQueries = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      queries: {
        // Once more after a hiccup of the line; what the server refused it will refuse again.
        retry: (failures, error) => failures < 1 && error instanceof ApiError && error.status === 0,
        refetchOnWindowFocus: false,
        staleTime: 5_000,
      },
    },
  });

/** What listens for as long as the document is there: keys, the stream of news, the end of a session. */
export function startListening(): void {
  // A person asked to sign in comes back to where they were.
  onSignedOut(() => {
    if (!hasPage("/login") || router.state.location.pathname.endsWith("/login")) return;
    void router.navigate({ to: "/login", search: { to: router.state.location.href }, replace: true });
  });
  startLanguage();
  startSettings();
  startKeys();
  live.start();
}

export const App = ({ queries }: { readonly queries: QueryClient }) => (
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>
);
