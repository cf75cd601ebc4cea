// `npm run example:approval`
import { tell } from "../shop/tell.mjs";

await tell({ name: "approval", load: () => import("./story.mjs") });
