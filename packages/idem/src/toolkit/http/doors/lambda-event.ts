// The event of an AWS Lambda function as a Request, and a Response as its result: HTTP APIs and function URLs (payload 2.0), REST
// APIs (1.0) and load balancers. https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html,
// https://docs.aws.amazon.com/elasticloadbalancing/latest/application/lambda-functions.html
import { errors } from "../../../model/errors.ts";
import { noteAddress } from "../../../sdk/request-address.ts";
import { essenceOf } from "../fingerprint.ts";
import { headersOf } from "./node-request.ts";

type Fields<V> = Readonly<Record<string, V | undefined>> | null;

/** The parts of any of them that are used. */
export interface LambdaEvent {
  /** "2.0" of HTTP APIs and function URLs. */
  readonly version?: string | undefined;
  readonly rawPath?: string | undefined;
  readonly rawQueryString?: string | undefined;
  readonly cookies?: readonly string[] | undefined;
  readonly httpMethod?: string | undefined;
  readonly path?: string | undefined;
  readonly headers?: Fields<string> | undefined;
  readonly multiValueHeaders?: Fields<readonly string[]> | undefined;
  readonly queryStringParameters?: Fields<string> | undefined;
  readonly multiValueQueryStringParameters?: Fields<readonly string[]> | undefined;
  readonly body?: string | null | undefined;
  readonly isBase64Encoded: boolean;
  readonly requestContext: object;
}

export interface LambdaResult {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly multiValueHeaders?: Record<string, string[]>;
  readonly cookies?: string[];
  readonly body: string;
  readonly isBase64Encoded: boolean;
}

interface Around {
  readonly http?: { readonly method?: string; readonly sourceIp?: string };
  readonly identity?: { readonly sourceIp?: string };
  readonly domainName?: string;
  /** With its stage, which the event's own path lacks. */
  readonly path?: string;
  readonly elb?: unknown;
}

const aroundOf = (event: LambdaEvent): Around => event.requestContext as Around;

/** Each as often as it was sent, where the event tells. */
function headerLines({ headers, multiValueHeaders, cookies }: LambdaEvent): string[] {
  const fields = Object.entries(multiValueHeaders ?? headers ?? {});
  const lines = fields.flatMap(([name, value]) => [value ?? []].flat().flatMap((each) => [name, each as string]));
  return cookies === undefined ? lines : [...lines, "cookie", cookies.join("; ")];
}

/** `keyHeader`: the one that is refused where it came twice, instead of being joined. */
export function requestOf(event: LambdaEvent, keyHeader = ""): Request {
  const { http, identity, elb } = aroundOf(event) ?? {};
  const method = http?.method ?? event.httpMethod;
  if (method === undefined) {
    const why = "it is none of an HTTP API, a function URL, a REST API or a load balancer";
    throw errors.TOOLKIT_OPTION_INVALID({ call: "idem/lambda", option: "event", why });
  }
  const headers = headersOf(headerLines(event), keyHeader);
  const hasBody = method !== "GET" && method !== "HEAD" && typeof event.body === "string" && event.body !== "";
  const body = hasBody ? { body: Buffer.from(event.body!, event.isBase64Encoded ? "base64" : "utf8") } : {};
  const request = new Request(urlOf(event, headers), { method, headers, ...body });
  // A load balancer adds the address it was called from at the end.
  const forwarded = elb === undefined ? undefined : headers.get("x-forwarded-for")?.split(",").at(-1)?.trim();
  const address = http?.sourceIp ?? identity?.sourceIp ?? forwarded;
  if (address !== undefined) noteAddress(request, address);
  return request;
}

function urlOf(event: LambdaEvent, headers: Headers): string {
  const around = aroundOf(event);
  const scheme = headers.get("x-forwarded-proto") === "http" ? "http" : "https";
  const base = `${scheme}://${headers.get("host") ?? around.domainName ?? "localhost"}`;
  const path = event.rawPath ?? around.path ?? event.path ?? "/";
  const query = event.rawQueryString ?? queryOf(event);
  const whole = `${base}${path.startsWith("/") ? path : `/${path}`}${query === "" ? "" : `?${query}`}`;
  return URL.canParse(whole) ? whole : new URL(path.replace(/^\/*/, "/"), "http://localhost").href;
}

/** Of a REST API decoded, of a load balancer as it was sent. */
function queryOf(event: LambdaEvent): string {
  const written = aroundOf(event).elb === undefined ? encodeURIComponent : (text: string) => text;
  return Object.entries(event.multiValueQueryStringParameters ?? event.queryStringParameters ?? {})
    .flatMap(([name, value]) => [value ?? []].flat().map((each) => `${written(name)}=${written(each as string)}`))
    .join("&");
}

export async function resultOf(response: Response, event: LambdaEvent): Promise<LambdaResult> {
  if (essenceOf(response.headers.get("content-type")) === "text/event-stream") {
    // Whole answers are all there is here: one without an end would hold the function until its time is over.
    await response.body?.cancel();
    return { statusCode: 501, headers: {}, body: "", isBase64Encoded: false };
  }
  const bytes = Buffer.from(await response.arrayBuffer());
  const headers = Object.fromEntries([...response.headers].filter(([name]) => name !== "set-cookie"));
  return { statusCode: response.status, ...spread(headers, response.headers.getSetCookie(), event), ...written(bytes) };
}

/** Cookies are the only header that comes more than once. */
function spread(headers: Record<string, string>, cookies: string[], event: LambdaEvent) {
  if (event.version === "2.0") return cookies.length > 0 ? { headers, cookies } : { headers };
  if (event.multiValueHeaders != null) {
    const all = Object.entries(headers).map(([name, value]): [string, string[]] => [name, [value]]);
    const named: [string, string[]][] = cookies.length > 0 ? [["set-cookie", cookies]] : [];
    return { headers: {}, multiValueHeaders: Object.fromEntries([...all, ...named]) };
  }
  // A load balancer without multi-value headers takes each name once, and every spelling is another one.
  const spelled = cookies.map((cookie, i): [string, string] => [spelling(i), cookie]);
  return { headers: { ...headers, ...Object.fromEntries(spelled) } };
}

const spelling = (i: number): string =>
  [..."set-cookie"].map((letter, at) => ((i >> at) & 1 ? letter.toUpperCase() : letter)).join("");

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** As text where the bytes are one, whatever they say they are. */
function written(bytes: Buffer): Pick<LambdaResult, "body" | "isBase64Encoded"> {
  try {
    return { body: utf8.decode(bytes), isBase64Encoded: false };
  } catch {
    return { body: bytes.toString("base64"), isBase64Encoded: true };
  }
}
