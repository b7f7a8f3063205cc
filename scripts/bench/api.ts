/** Timed API calls of one client over persistent connections. */
import { Agent, type IncomingMessage, request } from 'node:http'

export type Answer = { status: number; body: unknown; ms: number }

export type Api = {
  /** A path with its query; an object is sent as JSON. */
  call(method: string, path: string, body?: object): Promise<Answer>
  /** Like `call`. @throws Error for a status of 400 or above */
  ask(method: string, path: string, body?: object): Promise<unknown>
  /** Uploads a file as the form field `file`. */
  upload(path: string, file: { name: string; content: Buffer }): Promise<Answer>
  /** Reads a response and discards it. */
  drain(path: string): Promise<{ status: number; bytes: number; lines: number; ms: number }>
  close(): void
}

/** `secret`: the key of a project. `headers`: in place of it, those of a session. */
type Client = { url: string } & ({ secret: string } | { headers: Record<string, string> })

export function createApi({ url, ...credentials }: Client): Api {
  const agent = new Agent({ keepAlive: true })
  const authorization =
    'headers' in credentials
      ? credentials.headers
      : { Authorization: `Bearer ${credentials.secret}` }

  function send(
    options: { method: string; path: string; headers?: Record<string, string> },
    content?: Buffer,
  ): Promise<IncomingMessage> {
    const { method, path, headers } = options
    return new Promise((resolve, reject) => {
      const target = new URL(path, url)
      const sent = request(target, { method, agent, headers: { ...authorization, ...headers } })
      sent.on('response', resolve)
      sent.on('error', reject)
      sent.end(content)
    })
  }

  async function call(method: string, path: string, body?: object): Promise<Answer> {
    const content = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
    const headers = content === undefined ? {} : jsonHeaders(content)
    const startedAt = performance.now()
    const bytes = await readAll(await send({ method, path, headers }, content))
    return { ...bytes, ms: performance.now() - startedAt, body: parse(bytes.text) }
  }

  return {
    call,
    async ask(method, path, body) {
      const { status, body: answered } = await call(method, path, body)
      if (status < 400) return answered
      throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answered)}`)
    },
    async upload(path, { name, content }) {
      const boundary = 'a-boundary-of-the-benchmark'
      const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: text/csv\r\n\r\n`
      const body = Buffer.concat([
        Buffer.from(head),
        content,
        Buffer.from(`\r\n--${boundary}--\r\n`),
      ])
      const headers = {
        'Content-Type': `multipart/form-data; boundary=${boundary}`,
        'Content-Length': String(body.length),
      }
      const startedAt = performance.now()
      const { status, text } = await readAll(await send({ method: 'POST', path, headers }, body))
      return { status, body: parse(text), ms: performance.now() - startedAt }
    },
    async drain(path) {
      const startedAt = performance.now()
      const response = await send({ method: 'GET', path })
      let bytes = 0
      let lines = 0
      for await (const chunk of response as AsyncIterable<Buffer>) {
        bytes += chunk.length
        for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1
      }
      return { status: response.statusCode ?? 0, bytes, lines, ms: performance.now() - startedAt }
    },
    close: () => agent.destroy(),
  }
}

function jsonHeaders(content: Buffer): Record<string, string> {
  return { 'Content-Type': 'application/json', 'Content-Length': String(content.length) }
}

async function readAll(response: IncomingMessage): Promise<{ status: number; text: string }> {
  const chunks: Buffer[] = []
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk)
  return { status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }
}

function parse(text: string): unknown {
  return text === '' ? undefined : (JSON.parse(text) as unknown)
}
