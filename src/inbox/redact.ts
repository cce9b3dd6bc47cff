/** What looks like an API key, a webhook secret, or the user and password in a URL. */
const secretLike =
  /\b(?:service|sk|rk|pk)_(?:live|test)_[\w-]+|\bwhsec_[\w+/=-]+|\bBearer \S+|(?<=:\/\/)[^\s/@]+(?=@)/g;
const longest = 500;

/** Turns errors into text that may be stored: short, without the webhook secret and API keys. */
export class Redactor {
  /** The secret as it was given. If it is a function, its result is remembered. */
  readonly secret: unknown;
  #texts: string[];

  constructor(given: unknown) {
    this.#texts = textsOf(given);
    this.secret =
      typeof given === 'function' ? () => this.#remember(Reflect.apply(given, undefined, [])) : given;
  }

  textOf(error: unknown): string {
    let text = readable(error);
    for (const secret of [...this.#texts, process.env.PAYMENTS_API_KEY ?? '']) {
      if (secret.length >= 6) text = text.replaceAll(secret, '[redacted]');
    }
    return text.replace(secretLike, '[redacted]').slice(0, longest);
  }

  async #remember(result: unknown): Promise<unknown> {
    const secret = await result;
    this.#texts = textsOf(secret);
    return secret;
  }
}

function textsOf(secret: unknown): string[] {
  return [secret]
    .flat()
    .map((each) =>
      ArrayBuffer.isView(each)
        ? Buffer.from(each.buffer, each.byteOffset, each.byteLength).toString()
        : String(each),
    );
}

function readable(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  } catch {
    return 'The error could not be read.';
  }
}
