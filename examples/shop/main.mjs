// `npm run example:shop`
import { tell } from "./tell.mjs";

await tell({ name: "shop", load: () => import("./story.mjs") });
