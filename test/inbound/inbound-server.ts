/** An inbound listener over a real database, on a free port. */
import type { TestContext } from 'node:test'
import { createReturnPathLocalPart } from '../../src/formats/signed-tokens.ts'
import { type InboundOptions, startInbound } from '../../src/inbound/listener.ts'
import type { MailService } from '../../src/inbound/service.ts'
import { newId } from '../../src/store/ids.ts'
import { type InboundMessage, inboundMessages } from '../../src/store/schema/inbound.ts'
import { HOSTNAME, openTestCore, type TestCore, type TestCoreOptions } from '../core.ts'
import { connect, type Dialogue } from './dialogue.ts'

export type InboundServer = {
  core: TestCore
  service: MailService
  port: number
  /** A return path of our own. */
  returnPath: string
  /** Connects, reads the greeting and sends EHLO; closes at the end of the test. */
  dial(): Promise<Dialogue>
  rows(): Promise<InboundMessage[]>
}

type Options = InboundOptions & TestCoreOptions & { core?: TestCore }

export async function openInbound(t: TestContext, options: Options = {}): Promise<InboundServer> {
  const settings = { PILLARBOX_INBOUND__LISTEN: '["127.0.0.1:0"]', ...options.settings }
  const core = options.core ?? (await openTestCore(t, { ...options, settings }))
  const service = await startInbound(core, options)
  t.after(() => service.stop(0))
  const port = service.addresses[0]?.port ?? 0
  return {
    core,
    service,
    port,
    returnPath: returnPathOf(core),
    dial: async () => {
      const client = await connect(port, { ehlo: 'client.test' })
      t.after(client.close)
      return client
    },
    rows: async () => core.store.read.select().from(inboundMessages).orderBy(inboundMessages.id),
  }
}

/** The return path of an email that does not exist. */
export function returnPathOf({ keyring }: TestCore, emailId = newId()): string {
  const localPart = createReturnPathLocalPart(keyring.keys('return-path')[0], emailId)
  return `${localPart}@bounce.${HOSTNAME}`
}
