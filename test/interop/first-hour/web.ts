/** What people elsewhere see of the server: its API over HTTPS, and TLS of its ports. */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createServer, request } from 'node:https'
import { connect as connectTcp, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { connect as connectTls, type PeerCertificate } from 'node:tls'
import { ADDRESS } from './network.ts'
import { HOST } from './zone.ts'

export type Answer = { status: number | undefined; cookie: string; body: never }
export type Call = {
  method?: string
  headers?: Record<string, string>
  body?: unknown
}

/** Calls the API by its name, with certificates of `ca` only. */
export async function callApi(ca: string, route: string, call: Call = {}): Promise<Answer> {
  const { body, method = body === undefined ? 'GET' : 'POST', headers = {} } = call
  const json = body === undefined ? {} : { 'content-type': 'application/json' }
  const url = `https://${HOST}${route}`
  const sent = request(url, { method, ca, agent: false, headers: { ...json, ...headers } })
  sent.end(body === undefined ? undefined : JSON.stringify(body))
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const cookie = response.headers['set-cookie']?.[0]?.split(';')[0] ?? ''
  return { status: response.statusCode, cookie, body: JSON.parse(await text(response)) as never }
}

/** The certificate that port 25 shows after STARTTLS, if `ca` vouches for it. */
export async function seeStarttls(ca: string): Promise<PeerCertificate> {
  const socket = connectTcp(25, ADDRESS.server)
  for (const line of ['EHLO client.test', 'STARTTLS']) {
    await readReply(socket)
    socket.write(`${line}\r\n`)
  }
  await readReply(socket)
  const secure = connectTls({ socket, servername: HOST, ca })
  await once(secure, 'secureConnect')
  const certificate = secure.getPeerCertificate()
  secure.destroy()
  return certificate
}

/** Resolves after the last line of a reply (RFC 5321 section 4.2.1). */
async function readReply(socket: Socket): Promise<void> {
  for (let seen = ''; !/^\d{3} .*\r\n$/m.test(seen); ) {
    const [chunk] = await once(socket, 'data')
    seen += chunk
  }
}

/** Another web server, at its own address. */
export async function startOtherWeb(
  t: Pick<TestContext, 'after'>,
  certificate: { cert: string; key: string },
): Promise<void> {
  const server = createServer(certificate, (_, response) => response.end('hello'))
  await once(server.listen(443, ADDRESS.otherWeb), 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
}
