/** Requests over one connection, which stays open between them. */
import { Agent, request } from 'node:http'

export type KeptConnection = {
  /** Resolves to the status. */
  call(method: string, route: string, body?: object): Promise<number>
  close(): void
}

export function keepConnection(url: string, secret: string): KeptConnection {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }

  function call(method: string, route: string, body?: object): Promise<number> {
    return new Promise((resolve, reject) => {
      const outgoing = request(new URL(route, url), { agent, method, headers }, (response) => {
        response.resume().once('end', () => resolve(response.statusCode ?? 0))
      })
      outgoing.once('error', reject)
      outgoing.end(body === undefined ? undefined : JSON.stringify(body))
    })
  }

  return { call, close: () => agent.destroy() }
}
