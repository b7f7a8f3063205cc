/** The whole program under load, with a ledger of what it acknowledged and what arrived. */
import type { TestContext } from 'node:test'
import { installBesideSink, makeProject, type Serving } from '../../e2e/server.ts'
import { connect } from '../../inbound/dialogue.ts'
import { createLedger, type Ledger, until } from './ledger.ts'

export type Stage = {
  ledger: Ledger
  /** The secret key of its project, which may send from and receive at `example.test`. */
  secret: string
  serve(): Promise<Serving>
}

type StageOptions = { env?: Record<string, string>; configuration?: string }

/** `configuration`: TOML; it begins in the table `[limits]`. */
export async function openStage(
  t: TestContext,
  { env = {}, configuration = '' }: StageOptions = {},
): Promise<Stage> {
  const ledger = createLedger()
  const { installation } = await installBesideSink(t, {
    retrySchedule: '1s',
    forgets: true,
    configuration: `${configuration}[inbound]\nlisten = ["127.0.0.1:0"]\n`,
    respond: ({ verb, line }) => {
      if (verb === 'MESSAGE') ledger.arrived(line)
      return undefined
    },
  })
  const { secret } = await makeProject(installation)
  return { ledger, secret, serve: () => installation.serve({ env, keepsLog: true }) }
}

const QUIET_MS = 2_000

/** Resolves to the number of arrivals once there are no more for a while. */
export async function untilNoneArrive({ arrivals }: Ledger): Promise<number> {
  for (;;) {
    const { length } = arrivals
    const quietAt = performance.now() + QUIET_MS
    await until(() => performance.now() > quietAt || arrivals.length > length)
    if (arrivals.length === length) return length
  }
}

/** Offers a message for a mailbox of the project: its reply, or the refusal before it. */
export async function offerMail(server: Serving): Promise<{ code: number; text: string }> {
  const port = Number(server.inbound[0]?.split(':').at(-1))
  const session = await connect(port, { ehlo: 'client.test' })
  try {
    for (const line of ['MAIL FROM:<ada@people.test>', 'RCPT TO:<help@example.test>', 'DATA']) {
      const reply = await session.say(line)
      if (reply.code >= 400) return reply
    }
    return await session.data('Subject: Hello\r\n\r\nHello')
  } finally {
    session.close()
  }
}

/** Resolves when the server calls itself healthy. */
export async function untilHealthy({ url }: Serving): Promise<void> {
  await until(async () => (await fetch(new URL('/health', url))).status === 200)
}
