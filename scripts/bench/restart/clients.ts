/**
 * Clients that send without a pause, one email per request, as programs do that repeat a refused
 * request. They know which emails were acknowledged, and when.
 */
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

export type Clients = {
  /** The times of all answers 200, in order, and the ids of their emails. */
  acknowledged: readonly { at: number; id: string }[]
  /** Requests that were sent to a server and had no answer. */
  unanswered(): number
  /** Resolves when all requests under way have ended. */
  stop(): Promise<void>
}

const CLIENTS = 10
const PACE_MS = 50
const REPEAT_MS = 10

export function startClients(url: string, secret: string): Clients {
  const acknowledged: { at: number; id: string }[] = []
  const agent = new Agent({ keepAlive: true })
  let unanswered = 0
  let isStopping = false

  async function run(client: number): Promise<void> {
    for (let number = 0; !isStopping; number += 1) {
      const answer = await post({ url, secret, agent }, `client${client}.${number}@fast.example`)
      if (answer.kind === 'accepted') acknowledged.push({ at: performance.now(), id: answer.id })
      if (answer.kind === 'lost') unanswered += 1
      await sleep(answer.kind === 'accepted' ? PACE_MS : REPEAT_MS)
    }
  }

  const running = Array.from({ length: CLIENTS }, (_, client) => run(client))
  return {
    acknowledged,
    unanswered: () => unanswered,
    async stop() {
      isStopping = true
      await Promise.all(running)
      agent.destroy()
    },
  }
}

type Answer = { kind: 'accepted'; id: string } | { kind: 'refused' | 'lost' }
type Server = { url: string; secret: string; agent: Agent }

function post({ url, secret, agent }: Server, to: string): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Answer>()
  const body = JSON.stringify({ to, from: 'shop@example.test', subject: 'Hi', body: '<p>Hi</p>' })
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
  const sent = request(new URL('/v1/send', url), { method: 'POST', agent, headers }, (response) => {
    let text = ''
    response.on('data', (chunk) => {
      text += chunk
    })
    response.on('end', () => {
      if (response.statusCode !== 200) return resolve({ kind: 'refused' })
      resolve({ kind: 'accepted', id: JSON.parse(text).data.emails[0].email })
    })
  })
  sent.on('error', (error: NodeJS.ErrnoException) => {
    resolve({ kind: error.code === 'ECONNREFUSED' ? 'refused' : 'lost' })
  })
  sent.end(body)
  return promise
}
