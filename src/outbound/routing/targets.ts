/**
 * Orders the addresses that an attempt connects to (RFC 5321 section 5.1): by preference, then
 * hosts of equal preference in random order, one address of each in turn. So neither one host nor
 * one family fills all five places. IPv4 comes first for each host, because the IPv6 addresses of
 * many senders lack the PTR record that large receivers require.
 */
import { isLoopback, type LocalFamilies } from './addresses.ts'

export type SmtpTarget = { host: string; address: string; preference: number }

const MAX_TARGETS = 5
export const MAX_SMTP_SESSIONS = 2

/** Returns the addresses to try in one attempt, at most five. `random`: as Math.random. */
export function orderTargets(
  targets: readonly SmtpTarget[],
  { families, random }: { families: LocalFamilies; random: () => number },
): SmtpTarget[] {
  const ordered = [...groupBy(reachable(targets, families), (target) => target.preference)]
    .sort(([left], [right]) => left - right)
    .flatMap(([, group]) => alternateHosts(group, random))
  return keepVariety(ordered)
}

/** Leaves out an address family that this host lacks, unless all addresses are of that family. */
function reachable(targets: readonly SmtpTarget[], families: LocalFamilies): readonly SmtpTarget[] {
  const kept = targets.filter(({ address }) => {
    const isReachable = isIpv6(address) ? families.hasIpv6 : families.hasIpv4
    return isReachable || isLoopback(address)
  })
  return kept.length > 0 ? kept : targets
}

/** The first address of every host, then the second of every host, and so on. */
function alternateHosts(group: SmtpTarget[], random: () => number): SmtpTarget[] {
  const byHost = [...groupBy(group, (target) => target.host).values()]
  const queues = shuffle(byHost, random).map((list) => alternateFamilies(list, random))
  const longest = Math.max(...queues.map((queue) => queue.length))
  const rounds = Array.from({ length: longest }, (_, round) =>
    queues.flatMap((queue) => queue[round] ?? []),
  )
  return rounds.flat()
}

function alternateFamilies(list: SmtpTarget[], random: () => number): SmtpTarget[] {
  const shuffled = shuffle(list, random)
  const ipv4 = shuffled.filter(({ address }) => !isIpv6(address))
  const ipv6 = shuffled.filter(({ address }) => isIpv6(address))
  const longest = Math.max(ipv4.length, ipv6.length)
  const pairs = Array.from({ length: longest }, (_, at) => [ipv4[at] ?? [], ipv6[at] ?? []].flat())
  return pairs.flat()
}

/**
 * Gives the last two places to another family and another host, if the first five addresses have
 * only one.
 */
function keepVariety(ordered: SmtpTarget[]): SmtpTarget[] {
  const kept = ordered.slice(0, MAX_TARGETS)
  const [first] = kept
  if (first === undefined) return kept
  const rest = ordered.slice(MAX_TARGETS)
  const differences: ((target: SmtpTarget) => boolean)[] = [
    (target) => isIpv6(target.address) !== isIpv6(first.address),
    (target) => target.host !== first.host,
  ]
  for (const [index, isDifferent] of differences.entries()) {
    const other = kept.some(isDifferent) ? undefined : rest.find(isDifferent)
    if (other !== undefined) kept[MAX_TARGETS - 1 - index] = other
  }
  return kept
}

function shuffle<T>(list: readonly T[], random: () => number): T[] {
  const keyed = list.map((item) => ({ item, key: random() }))
  return keyed.sort((left, right) => left.key - right.key).map(({ item }) => item)
}

function groupBy<K>(
  targets: readonly SmtpTarget[],
  keyOf: (target: SmtpTarget) => K,
): Map<K, SmtpTarget[]> {
  const groups = new Map<K, SmtpTarget[]>()
  for (const target of targets) {
    const group = groups.get(keyOf(target))
    if (group === undefined) groups.set(keyOf(target), [target])
    else group.push(target)
  }
  return groups
}

function isIpv6(address: string): boolean {
  return address.includes(':')
}
