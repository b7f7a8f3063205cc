/**
 * Whether the addresses of this server are on the blocklists of `doctor.blocklists` (RFC 5782). An
 * answer in 127.0.0.0/8 means listed; one in 127.255.255.0/24 means that the list refuses to answer this
 * resolver; anything else did not come from a blocklist.
 */
import { reversedLabels } from '../../mail/domains/server-records.ts'
import type { Check, CheckContext } from './check.ts'
import { failed, ok, skipped, warning } from './outcome.ts'
import { combine, type Part } from './parts.ts'
import { skipUnlessDirect } from './skip-mode.ts'

const REFUSAL = /^127\.255\.255\.\d+$/
const LISTED = /^127\.\d+\.\d+\.\d+$/
const MAX_REASON = 200

export const blocklistsCheck: Check = {
  id: 'blocklists',
  run: async (context) => {
    const skip = skipUnlessDirect(context.config)
    if (skip !== undefined) return skip
    const { blocklists } = context.config.doctor
    if (blocklists.length === 0) return skipped('doctor.blocklists is empty')
    const { addresses, fault } = await context.facts.addresses()
    if (fault !== null) return skipped(`${fault}; see reverse_dns`)
    const questions = blocklists.flatMap((zone) => addresses.map((address) => ({ zone, address })))
    const parts = await Promise.all(questions.map((one) => checkListing(context, one)))
    return combine(parts, `${addresses.join(', ')} on none of ${blocklists.join(', ')}`)
  },
}

async function checkListing(
  { probes }: CheckContext,
  { zone, address }: { zone: string; address: string },
): Promise<Part> {
  const name = `${reversedLabels(address)}.${zone}`
  const answer = await probes.dns.listing(name)
  const unknown = (text: string) =>
    warning(
      `${zone} does not say whether ${address} is listed: ${text}`,
      'Name a resolver of your own in dns.servers: many lists refuse public resolvers. Otherwise remove the zone from doctor.blocklists.',
    )
  if (answer.kind === 'failed') return unknown(answer.error)
  if (answer.kind !== 'found') return ok(`${address} is not on ${zone}`)
  const listed = answer.records.filter((record) => LISTED.test(record) && !REFUSAL.test(record))
  if (listed.length === 0) return unknown(`it answers ${answer.records.join(', ')}`)
  const reason = await probes.dns.txt(name)
  const text = reason.kind === 'found' ? `: ${reason.records.join(' ').slice(0, MAX_REASON)}` : ''
  return failed(
    `${address} is on ${zone} (${listed.join(', ')})${text}`,
    `Find out what was sent from ${address}, stop it, and ask ${zone} to remove the address.`,
  )
}
