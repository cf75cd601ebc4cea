import { createRoot } from "react-dom/client";
import { App, newQueries, startListening } from "./app.tsx";
import "./styles/tokens.css";
import "./styles/base.css";

startListening();
createRoot(document.getElementById("root")!).render(<App queries={newQueries()} />);
