// The thread of long reads: pages, lists and searches take their time here, and no commit waits for them.
import { fileIdentity } from "../../platform/node-files.ts";
import { nodeThread } from "../../platform/node-thread.ts";
import { answerOf, fail, succeed } from "./calls.ts";
import { PageReader } from "./page-reader.ts";
import type { FromReader, OpenedStore, ToReader } from "./thread-messages.ts";

const { input, clock, post, onMessage, end } = nodeThread<OpenedStore, ToReader, FromReader>();
try {
  const reader = new PageReader(input, clock, fileIdentity);
  onMessage((message) => {
    if (message.kind === "read") {
      const beganMono = clock.monoMs();
      const answer = answerOf(() => reader.read(message.name, message.input));
      post({ kind: "read", id: message.id, answer, ms: clock.monoMs() - beganMono });
      return;
    }
    reader.close();
    post({ kind: "closed" });
    end();
  });
  post({ kind: "open", answer: succeed(null) });
} catch (error) {
  post({ kind: "open", answer: fail(error) });
  end();
}
