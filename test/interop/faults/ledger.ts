/** A ledger of emails: those that the server acknowledged, and those that arrived at a sink. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { post } from '../../e2e/server.ts'
import { PATIENCE_MS } from '../../patience.ts'

type Arrival = { id: string; at: number }

export type Ledger = {
  /** Sends by turns until `stop`; counts the answers by their status. */
  startLoad(url: string, secret: string, senders?: number): { stop(): Promise<void> }
  /** Call it with each message that a sink has accepted. */
  arrived(message: string): void
  acknowledged: ReadonlySet<string>
  arrivals: readonly Arrival[]
  /** How many answers had this status; 0 stands for no answer. */
  answers(status: number): number
  /** Resolves when each acknowledged email has arrived. */
  untilAllArrived(): Promise<void>
  /** The ids that arrived more than once, with the instants (`performance.now()`) of all but the last. */
  repeated(): Arrival[]
}

/** Asks until it is so. */
export async function until(ask: () => Promise<boolean> | boolean): Promise<void> {
  for (const giveUpAt = performance.now() + PATIENCE_MS; !(await ask()); await sleep(10)) {
    assert.ok(performance.now() < giveUpAt, 'it never came')
  }
}

export function createLedger(): Ledger {
  const acknowledged = new Set<string>()
  const arrivals: Arrival[] = []
  const answers = new Map<number, number>()

  async function send(url: string, secret: string): Promise<void> {
    const request = {
      to: `u${Math.random()}@dest.test`,
      from: 'shop@example.test',
      ...{ subject: 'Ledger', body: '<p>Hello</p>' },
    }
    const answer = await post(url, secret, request).catch(() => undefined)
    const status = answer?.status ?? 0
    answers.set(status, (answers.get(status) ?? 0) + 1)
    if (answer?.status !== 200) return
    const { emails } = (answer.body as { data: { emails: { email: string }[] } }).data
    for (const { email } of emails) acknowledged.add(email)
  }

  return {
    startLoad(url, secret, senders = 4) {
      let isStopping = false
      const loop = async () => {
        while (!isStopping) await send(url, secret)
      }
      const loops = Array.from({ length: senders }, loop)
      return {
        async stop() {
          isStopping = true
          await Promise.all(loops)
        },
      }
    },
    arrived(message) {
      const id = /^message-id: <([0-9a-f-]{36})@/im.exec(message.slice(0, 4_096))?.[1]
      assert.ok(id !== undefined)
      arrivals.push({ id, at: performance.now() })
    },
    acknowledged,
    arrivals,
    answers: (status) => answers.get(status) ?? 0,
    async untilAllArrived() {
      // Each step of the progress has the deadline to itself: the machine may be slow.
      for (let open = missing(); open > 0; ) {
        await until(() => missing() < open)
        open = missing()
      }
    },
    repeated() {
      const groups = [...Map.groupBy(arrivals, ({ id }) => id).values()]
      return groups.flatMap((group) => group.slice(0, -1))
    },
  }

  function missing(): number {
    const arrived = new Set(arrivals.map(({ id }) => id))
    return [...acknowledged].filter((id) => !arrived.has(id)).length
  }
}
