/** Requests over kept connections, without what supertest adds: they take half of its time. */
import { once } from 'node:events'
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'

/** As supertest describes an answer: an image has no text, and only JSON has a body beside that. */
export type Answer = {
  status: number
  type: string
  headers: IncomingHttpHeaders
  text: string | undefined
  // biome-ignore lint/suspicious/noExplicitAny: as that of supertest
  body: any
}

type PlainRequest = { method?: string; headers?: Record<string, string>; content?: unknown }

/** `content` is sent as JSON. */
export async function sendPlainly(
  url: URL,
  { method = 'GET', headers = {}, content }: PlainRequest = {},
): Promise<Answer> {
  const sent = request(url, { method, headers })
  if (content === undefined) sent.end()
  else {
    const octets = Buffer.from(JSON.stringify(content))
    sent.setHeader('content-type', 'application/json')
    sent.setHeader('content-length', octets.length)
    sent.end(octets)
  }
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  const octets = Buffer.concat(await answer.toArray())
  const [type = ''] = answer.headers['content-type']?.split(';') ?? []
  const text = type.startsWith('image/') ? undefined : octets.toString()
  const isJson = type === 'application/json' && octets.length > 0
  const body = text === undefined ? octets : isJson ? JSON.parse(text) : {}
  return { status: Number(answer.statusCode), type, headers: answer.headers, text, body }
}
