/** What readers do with the links of a message: they open it, click, and unsubscribe. */
import type { MessageLinks } from '../world/sink-events.ts'
import { type Handler, pickDelivered, type Traffic } from './traffic.ts'

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

/** Answers to opens and clicks come before the hits are on disk: a kill may lose them. */
export const open: Handler = (traffic, { lots }) => visit(traffic, 'open', lots[0])

export const click: Handler = (traffic, { lots }) => visit(traffic, 'click', lots[0])

export const unsubscribe: Handler = async (traffic, { lots }) => {
  const message = pickDelivered(traffic, lots[0], hasLink('unsubscribe'))
  if (message === undefined) return
  const { emailId, to: email } = message
  const record = { emailId, email, outcome: 'unknown' as const }
  const path = `/unsubscribe/${message.links.unsubscribe}`
  const { outcome } = await traffic.main.api.ask({
    ...{ method: 'POST', path, isPublic: true, isRepeatable: true },
  })
  traffic.history.unsubscriptions.push({ ...record, outcome })
}

async function visit(traffic: Traffic, kind: 'open' | 'click', lot: number): Promise<void> {
  const message = pickDelivered(traffic, lot, hasLink(kind))
  if (message === undefined) return
  traffic.history.visits.push({ emailId: message.emailId, kind })
  const path = `/t/${kind === 'open' ? 'o' : 'c'}/${message.links[kind]}`
  const headers = { 'user-agent': BROWSER }
  await traffic.main.api.ask({ method: 'GET', path, isPublic: true, isRepeatable: false, headers })
}

function hasLink(kind: keyof MessageLinks) {
  return ({ links }: { links: MessageLinks }) => links[kind] !== undefined
}
