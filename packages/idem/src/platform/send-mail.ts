// One e-mail by SMTP. The library is the user's, like a database's driver: most installations never send any. It is loaded with the first one.
import { lookup as lookUp } from "node:dns";
import { isIP, type LookupFunction } from "node:net";

export interface Mail {
  /** `smtp://…` speaks TLS as soon as the server does, `smtps://…` from the first byte. */
  readonly url: string;
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  /** By which a mail server, and a person's program, know it again. */
  readonly messageId: string;
}

export interface MailOptions {
  /** A name is connected to at the address this gives, and no other; the machine's own unless given. */
  readonly lookup?: LookupFunction;
  readonly connectMsMax: number;
  readonly silenceMsMax: number;
}

/** Rejects when the server did not take it for everybody. */
export async function sendMail(mail: Mail, { lookup, connectMsMax, silenceMsMax }: MailOptions): Promise<void> {
  const library = await loadLibrary();
  if (library === null) throw new Error(mailMissing);
  const url = new URL(mail.url);
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const address = await addressOf(host, lookup ?? (lookUp as LookupFunction));
  const isSecure = url.protocol === "smtps:";
  const user = decodeURIComponent(url.username);
  const transport = library.createTransport({
    host: address,
    port: url.port === "" ? (isSecure ? 465 : 587) : Number(url.port),
    secure: isSecure,
    // A password is never said in the clear, but to this machine.
    requireTLS: user !== "" && !isLoopback(address),
    ...(isIP(host) === 0 ? { tls: { servername: host } } : {}),
    ...(user === "" ? {} : { auth: { user, pass: decodeURIComponent(url.password) } }),
    connectionTimeout: connectMsMax,
    greetingTimeout: connectMsMax,
    socketTimeout: silenceMsMax,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    const { from, to, subject, text, messageId } = mail;
    const { rejected } = await transport.sendMail({ from, to: [...to], subject, text, messageId });
    if (rejected.length > 0) throw new Error(`the server refused ${rejected.length} of ${to.length} recipients`);
  } finally {
    transport.close();
  }
}

/** The advice where there is no library. */
export const mailMissing =
  'e-mail needs a library that is not installed here; "npm install nodemailer", and start again';

export const canMail = async (): Promise<boolean> => (await loadLibrary()) !== null;

async function loadLibrary(): Promise<typeof import("nodemailer") | null> {
  try {
    return await import("nodemailer");
  } catch (error) {
    if ((error as { code?: unknown }).code === "ERR_MODULE_NOT_FOUND") return null;
    throw error;
  }
}

const isLoopback = (address: string): boolean => address === "::1" || address.startsWith("127.");

const addressOf = (host: string, lookup: LookupFunction): Promise<string> =>
  new Promise((resolve, reject) => {
    lookup(host, {}, (error, address) => {
      if (error !== null) reject(error);
      else resolve(typeof address === "string" ? address : address[0]!.address);
    });
  });
