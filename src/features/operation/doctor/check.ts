/**
 * A check of the server: its id, what it is given, and what it finds. It reads and asks, changes nothing, and
 * never throws for what others do.
 *
 *   ok        as it should be
 *   warning   works, or could not be judged; somebody should look
 *   failed    mail or people suffer from it
 *   skipped   says nothing; the evidence is the reason
 *
 * Evidence may quote a hostile server. `toEvidence` makes it safe to print and bounds it.
 */
import type { Config } from '../../../config/config.ts'
import { printable } from '../../../outbound/smtp/reply-parser.ts'
import type { DoctorDeps } from './deps.ts'
import type { DoctorFacts } from './facts.ts'

const ORDER: readonly CheckStatus[] = ['failed', 'warning', 'ok', 'skipped']
const MAX_FIXES = 20

/**
 * The outcome for one of several things that a check looks at, such as an address or a domain. A
 * skipped part gives its reason as evidence, and counts as neither good nor bad.
 */
export type CheckPart = CheckOutcome

/** Stable: operators script against them, and they label a gauge. */
export type CheckId =
  | 'smtp_egress'
  | 'reverse_dns'
  | 'spf'
  | 'dkim'
  | 'dmarc'
  | 'return_path'
  | 'starttls'
  | 'certificates'
  | 'blocklists'
  | 'base_url'
  | 'one_click'
  | 'clock'
  | 'disk_space'
  | 'inodes'
  | 'wal'
  | 'oldest_due'
  | 'backup'
  | 'database'

export type CheckStatus = 'ok' | 'warning' | 'failed' | 'skipped'

/** The finding of a check. */
export type CheckOutcome = {
  status: CheckStatus
  /** The observation; for a skipped check, the reason. */
  evidence: string
  /**
   * How to repair the fault: lines of a zone or of the configuration to paste, commands, or a
   * sentence.
   */
  fix?: string
  /** If one of these checks is not ok, this outcome is only a consequence of it, and is skipped. */
  follows?: readonly CheckId[]
}

export type CheckResult = {
  id: CheckId
  status: CheckStatus
  evidence: string
  /** Null when there is nothing to do. */
  fix: string | null
}

const MAX_EVIDENCE = 500
const MAX_FIX = 4_000

/** Why a check is skipped in a command without an answering server. */
export const NEEDS_SERVER = 'only a running server can tell'

export const ok = (evidence: string): CheckOutcome => ({ status: 'ok', evidence })
export const skipped = (why: string): CheckOutcome => ({ status: 'skipped', evidence: why })
export const warning = (evidence: string, fix: string): CheckOutcome => ({
  ...{ status: 'warning', evidence, fix },
})
export const failed = (evidence: string, fix: string): CheckOutcome => ({
  ...{ status: 'failed', evidence, fix },
})

/** Makes one line of at most 500 characters; control and direction characters are escaped. */
function toEvidence(text: string): string {
  const line = printable(text.replace(/[\r\n\t]+/g, ' '), 2 * MAX_EVIDENCE).toWellFormed()
  return line.length <= MAX_EVIDENCE ? line : `${line.slice(0, MAX_EVIDENCE - 1).toWellFormed()}…`
}

export function toCheckResult(id: CheckId, { status, evidence, fix }: CheckOutcome): CheckResult {
  const isOk = status === 'ok' || status === 'skipped'
  return {
    ...{ id, status, evidence: toEvidence(evidence) },
    fix: isOk || fix === undefined ? null : toFix(fix),
  }
}

/** Escapes each line by itself: a fix may be several records, so its line ends stay. */
function toFix(fix: string): string {
  const lines = fix.split('\n').map((line) => printable(line, MAX_FIX))
  return lines.join('\n').slice(0, MAX_FIX)
}

/**
 * Combines parts to one outcome. The status is the worst of all parts; the evidence and the fixes
 * come from all failed parts and all parts with a warning. `summary` is the evidence when no part
 * is bad.
 */
export function combine(parts: readonly CheckPart[], summary: string): CheckOutcome {
  const status = ORDER.find((one) => parts.some((part) => part.status === one)) ?? 'skipped'
  const bad = ORDER.slice(0, 2).flatMap((one) => parts.filter((part) => part.status === one))
  if (bad.length === 0) return { status, evidence: summary }
  const fixes = [...new Set(bad.flatMap(({ fix }) => fix ?? []))]
  const more = fixes.length - MAX_FIXES
  return {
    status,
    evidence: bad.map(({ evidence }) => evidence).join('; '),
    fix: [...fixes.slice(0, MAX_FIXES), ...(more > 0 ? [`and ${more} more`] : [])].join('\n'),
    ...followsOf(bad),
  }
}

/** A combined outcome is a consequence of other checks only if all its bad parts are. */
function followsOf(bad: readonly CheckPart[]): Pick<CheckOutcome, 'follows'> {
  if (bad.some(({ follows }) => follows === undefined)) return {}
  return { follows: [...new Set(bad.flatMap(({ follows }) => follows ?? []))] }
}

/**
 * The outcome of a check that DNS gave no answer to. The records may be right, so no record is
 * offered to paste: the fault is at the DNS server that this server asks, or at those of the one
 * name.
 */
export function noAnswer(config: Pick<Config, 'dns'>, evidence: string): CheckOutcome {
  return warning(evidence, fixOfNoAnswer(config))
}

export function fixOfNoAnswer({ dns }: Pick<Config, 'dns'>): string {
  const { servers } = dns
  const asked =
    servers.length === 0
      ? 'the DNS server of /etc/resolv.conf does not answer: repair that file, or set dns.servers'
      : `the DNS server ${servers.join(' or ')} does not answer: change dns.servers`
  return `If other names get no answer either, ${asked}. Otherwise the DNS servers of this name do not answer.`
}

/** Skips, in a sandbox, a check of what other servers see; undefined in other modes. */
export function skipInSandbox({ delivery }: Pick<Config, 'delivery'>): CheckOutcome | undefined {
  if (delivery.mode !== 'sandbox') return undefined
  return skipped('the sandbox sends no mail to other servers')
}

/**
 * Skips, in relay mode, a check of the addresses that mail comes from: other servers see the
 * addresses of the smarthost. Also skips it in a sandbox.
 */
export function skipUnlessDirect(config: Pick<Config, 'delivery'>): CheckOutcome | undefined {
  if (config.delivery.mode !== 'relay') return skipInSandbox(config)
  return skipped('in relay mode other servers see the addresses of the smarthost')
}

/** `facts`: what several checks of one run need; each fact is found out once. */
export type CheckContext = DoctorDeps & { facts: DoctorFacts }

export type Check = {
  id: CheckId
  run(context: CheckContext): Promise<CheckOutcome>
}
