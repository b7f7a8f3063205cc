/** The rows of the table of receivers: what went to each in the range, and what each does now. */
import type { ReceiverStanding } from './answer.ts'

type Provider = { provider: string; sent: number; delivered: number; opened: number }

/**
 * Rates are percent of sent; undefined where nothing was sent. `now`: undefined if the states are unknown, null for a
 * receiver that takes all mail.
 */
export type ReceiverRow = {
  name: string
  sent: number
  deliveryRate: number | undefined
  openRate: number | undefined
  now: ReceiverStanding | null | undefined
}

/** What the rows beyond the limit have together. */
export type FurtherReceivers = Omit<ReceiverRow, 'name' | 'now'> & { count: number }

/** The receivers with most mail, and those that hold mail back, which are never left out. */
export function listReceiverRows(
  providers: readonly Provider[],
  standings: readonly ReceiverStanding[] | undefined,
  limit: number,
): { rows: ReceiverRow[]; further: FurtherReceivers | undefined } {
  const slow = (standings ?? []).filter(({ state, affected }) => state !== 'open' && affected > 0)
  const names = new Set(providers.map(({ provider }) => provider))
  const unsent = slow
    .filter(({ receiver }) => !names.has(receiver))
    .map(({ receiver }) => ({ provider: receiver, sent: 0, delivered: 0, opened: 0 }))
  const all = [...providers, ...unsent]
  const isSlow = ({ provider }: Provider) => slow.some(({ receiver }) => receiver === provider)
  const shown = new Set([...all.slice(0, limit), ...all.filter(isSlow)])
  const rest = all.filter((one) => !shown.has(one))
  return {
    rows: all.filter((one) => shown.has(one)).map((one) => toRow(one, standings)),
    further: rest.length === 0 ? undefined : { count: rest.length, ...toRates(sum(rest)) },
  }
}

function toRow(
  provider: Provider,
  standings: readonly ReceiverStanding[] | undefined,
): ReceiverRow {
  const found = standings?.find(({ receiver }) => receiver === provider.provider)
  const isOpen = found === undefined || found.state === 'open' || found.affected === 0
  const now = standings === undefined ? undefined : isOpen ? null : found
  return { name: provider.provider, ...toRates(provider), now }
}

function toRates({ sent, delivered, opened }: Omit<Provider, 'provider'>) {
  const rate = (count: number) => (sent === 0 ? undefined : (100 * count) / sent)
  return { sent, deliveryRate: rate(delivered), openRate: rate(opened) }
}

function sum(providers: readonly Provider[]): Omit<Provider, 'provider'> {
  const total = { sent: 0, delivered: 0, opened: 0 }
  for (const { sent, delivered, opened } of providers) {
    total.sent += sent
    total.delivered += delivered
    total.opened += opened
  }
  return total
}
