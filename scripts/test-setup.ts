// Loaded before every test file.
import fc from "fast-check";
import seeds from "../proof/seeds.json" with { type: "json" };

// Property tests try the same inputs each time. `npm run proof -- properties` tries others and prints its seed.
fc.configureGlobal({ seed: Number(process.env.IDEM_PROPERTY_SEED ?? seeds.properties) });
