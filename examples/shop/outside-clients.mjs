// What the shop knows of Stripe and of its mail provider: an address, and how to ask.

export class HttpError extends Error {
  constructor(what, status) {
    super(`${what} answered ${status}`);
    this.status = status;
  }
}

async function ask(url, init) {
  const answer = await fetch(url, init);
  if (!answer.ok) throw new HttpError(new URL(url).pathname, answer.status);
  return answer.json();
}

const posted = (body, headers = {}) => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});

export const stripeClient = (base) => ({
  charges: {
    create: (charge, { headers }) => ask(`${base}/v1/charges`, posted(charge, headers)),
    markedWith: (mark) => ask(`${base}/v1/charges?mark=${encodeURIComponent(mark)}`),
  },
});

export const mailClient = (base) => ({
  send: (mail) => ask(`${base}/mails`, posted(mail)),
  taggedWith: (tag) => ask(`${base}/mails?tag=${encodeURIComponent(tag)}`),
});
