// The other side of an SMTP connection (RFC 5321), as far as clients need it to hand over mail. Pure but for what it remembers of the conversation.

export interface HandedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly text: string;
}

/** Lines to write back; `mail` when a message is complete, to be answered by its taker. */
export type SmtpTurn =
  | { readonly kind: "say"; readonly lines: readonly string[]; readonly isOver: boolean }
  | { readonly kind: "mail"; readonly mail: HandedMail }
  /** No client of a mail server says that. */
  | { readonly kind: "strange"; readonly said: string };

const say = (...lines: string[]): SmtpTurn => ({ kind: "say", lines, isOver: false });
const addressIn = (line: string): string => /<([^>]*)>/.exec(line)?.[1] ?? line.split(":")[1]?.trim() ?? "";

export class SmtpSession {
  private left = "";
  private isMet = false;
  private isData = false;
  /** Lines of a password or token that are still to come. */
  private secrets: string[] = [];
  private from = "";
  private to: string[] = [];

  constructor(private isEncrypted: boolean) {}

  greet(): SmtpTurn {
    return say("220 idem-verify ESMTP");
  }

  encrypted(): void {
    this.isEncrypted = true;
  }

  /** Takes what the client wrote. */
  take(text: string): SmtpTurn[] {
    this.left += text;
    const turns: SmtpTurn[] = [];
    // Another protocol may never end a line.
    if (!this.isMet && !/^(EHLO|HELO|LHLO|NOOP|RSET|QUIT|STARTTLS)\b/i.test(text))
      return [{ kind: "strange", said: text }];
    this.isMet = true;
    for (;;) {
      const end = this.isData ? this.left.indexOf("\r\n.\r\n") : this.left.indexOf("\r\n");
      if (end === -1) return turns;
      const said = this.left.slice(0, end);
      this.left = this.left.slice(end + (this.isData ? 5 : 2));
      turns.push(this.isData ? this.complete(said) : this.command(said));
    }
  }

  private complete(text: string): SmtpTurn {
    this.isData = false;
    const mail = { from: this.from, to: this.to, text: text.replace(/^\.\./gm, ".") };
    this.to = [];
    return { kind: "mail", mail };
  }

  private command(line: string): SmtpTurn {
    const next = this.secrets.shift();
    if (next !== undefined) return say(next);
    const word = line.split(" ")[0]!.toUpperCase();
    switch (word) {
      case "EHLO":
      case "LHLO": {
        const able = ["idem-verify", ...(this.isEncrypted ? [] : ["STARTTLS"]), "AUTH PLAIN LOGIN XOAUTH2", "8BITMIME"];
        return say(...able.map((each, i) => `250${i < able.length - 1 ? "-" : " "}${each}`));
      }
      case "AUTH":
        return this.auth(line.split(" "));
      case "MAIL":
        this.from = addressIn(line);
        return say("250 2.1.0 Ok");
      case "RCPT":
        this.to.push(addressIn(line));
        return say("250 2.1.5 Ok");
      case "DATA":
        this.isData = true;
        return say("354 End data with <CR><LF>.<CR><LF>");
      case "STARTTLS":
        return say("220 2.0.0 Ready to start TLS");
      case "RSET":
        this.to = [];
        return say("250 2.0.0 Ok");
      case "QUIT":
        return { kind: "say", lines: ["221 2.0.0 Bye"], isOver: true };
      case "HELO":
      case "NOOP":
        return say("250 2.0.0 Ok");
      default:
        return { kind: "strange", said: line };
    }
  }

  private auth([, how = "", secret]: readonly string[]): SmtpTurn {
    const done = "235 2.7.0 Authentication successful";
    if (how.toUpperCase() === "LOGIN") {
      const asked = secret === undefined ? ["334 VXNlcm5hbWU6", "334 UGFzc3dvcmQ6"] : ["334 UGFzc3dvcmQ6"];
      this.secrets = [...asked.slice(1), done];
      return say(asked[0]!);
    }
    if (secret !== undefined) return say(done);
    this.secrets = [done];
    return say("334 ");
  }
}
