/** An inbound listener over a real database, on a free port. */
import type { TestContext } from 'node:test'
import { type InboundOptions, startInbound } from '../../src/inbound/listener.ts'
import type { MailService } from '../../src/inbound/service.ts'
import { createReturnPathLocalPart } from '../../src/mail/signed-tokens.ts'
import { newId } from '../../src/store/ids.ts'
import { type InboundMessage, inboundMessages } from '../../src/store/schema/inbound.ts'
import { HOSTNAME, openWorld, type World, type WorldOptions } from '../features/world.ts'
import { connect, type Dialogue } from './dialogue.ts'

export type Place = {
  world: World
  service: MailService
  port: number
  /** A return path that was made here. */
  returnPath: string
  /** Greeted and introduced; closed with the test. */
  dial(): Promise<Dialogue>
  rows(): Promise<InboundMessage[]>
}

type Options = InboundOptions & WorldOptions & { world?: World }

export async function openPlace(t: TestContext, options: Options = {}): Promise<Place> {
  const settings = { PILLARBOX_INBOUND__LISTEN: '["127.0.0.1:0"]', ...options.settings }
  const world = options.world ?? (await openWorld(t, { ...options, settings }))
  const service = await startInbound(world, options)
  t.after(() => service.stop(0))
  const port = service.addresses[0]?.port ?? 0
  return {
    world,
    service,
    port,
    returnPath: returnPathOf(world),
    dial: async () => {
      const client = await connect(port, { ehlo: 'client.test' })
      t.after(client.close)
      return client
    },
    rows: async () => world.store.read.select().from(inboundMessages).orderBy(inboundMessages.id),
  }
}

/** Of an email that need not be there. */
export function returnPathOf({ keyring }: World, emailId = newId()): string {
  const localPart = createReturnPathLocalPart(keyring.keys('return-path')[0], emailId)
  return `${localPart}@bounce.${HOSTNAME}`
}
