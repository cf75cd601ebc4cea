// Loaded before an app's host: what it imports of `inngest` is the version that ACCEPTANCE_SDK names, as it is installed beside the newest.
import { register } from "node:module";

const hooks = `
  const older = ${JSON.stringify(process.env.ACCEPTANCE_SDK)};
  export const resolve = (name, context, next) =>
    next(/^inngest(\\/|$)/.test(name) ? name.replace("inngest", older) : name, context);`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
