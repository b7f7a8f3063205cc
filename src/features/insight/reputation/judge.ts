/**
 * Judges a project by its counts. Percentages count only from `security.min_emails` emails in their
 * window on, and from a number of bounces or complaints on. Numbers alone count for 24 hours and
 * for 7 days, with lower limits for projects younger than 30 days. A limit of 0 is never reached.
 */
import type { SecurityConfig } from '../../../config/config.ts'
import type { ReputationCounts, ReputationWindows } from './windows.ts'

type Level = 'healthy' | 'warning' | 'critical'
type LimitKind = 'bounce' | 'complaint'
type ReputationLimits = { warning: number; critical: number }

/** A limit that the project has reached. */
export type ReachedLimit = {
  kind: LimitKind
  level: Exclude<Level, 'healthy'>
  /** The limit in words, such as `7-day bounce rate of 12% (critical from 10% and 10 bounces)`. */
  text: string
}

type Levels = {
  bounce7Day: Level
  bounceAllTime: Level
  complaint7Day: Level
  complaintAllTime: Level
}

/** `levels`: the levels by the percentages alone. */
type Judgement = { findings: ReachedLimit[]; levels: Levels }

/** The least number of bounces or complaints for which a percentage counts. */
const LEAST: Record<LimitKind, ReputationLimits> = {
  bounce: { warning: 5, critical: 10 },
  complaint: { warning: 3, critical: 5 },
}

const PLURALS = { bounce: 'bounces', complaint: 'complaints' } as const
const WINDOW_NAMES = { day: '24-hour', week: '7-day', all: 'all-time' } as const

export function judgeReputation(
  config: SecurityConfig,
  windows: ReputationWindows,
  { isNew }: { isNew: boolean },
): Judgement {
  const kinds = ['bounce', 'complaint'] as const
  const counts = isNew ? config.youngCounts : config.counts
  const findings = kinds.flatMap((kind) => [
    ...(['week', 'all'] as const).flatMap((window) => judgeRate(config, windows, { kind, window })),
    ...(['day', 'week'] as const).flatMap((window) => {
      const count = windows[window][PLURALS[kind]]
      return judgeCount(counts[kind][window], { kind, window, count })
    }),
  ])
  const levelOf = (kind: LimitKind, window: 'week' | 'all') =>
    rateLevel(config.percent[kind][window], windows[window], kind)
  return {
    findings,
    levels: {
      bounce7Day: levelOf('bounce', 'week'),
      bounceAllTime: levelOf('bounce', 'all'),
      complaint7Day: levelOf('complaint', 'week'),
      complaintAllTime: levelOf('complaint', 'all'),
    },
  }
}

/** The percentage of bounces or complaints among the emails, to four decimals. */
export function rateOf(counts: ReputationCounts, kind: LimitKind): number {
  if (counts.emails === 0) return 0
  return Math.round((1_000_000 * counts[PLURALS[kind]]) / counts.emails) / 10_000
}

function judgeRate(
  { percent, minEmails }: SecurityConfig,
  windows: ReputationWindows,
  { kind, window }: { kind: LimitKind; window: 'week' | 'all' },
): ReachedLimit[] {
  const counts = windows[window]
  if (counts.emails < minEmails) return []
  const limits = percent[kind][window]
  for (const level of ['critical', 'warning'] as const) {
    const least = LEAST[kind][level]
    if (counts[PLURALS[kind]] < least || !reachesPercent(counts, kind, limits[level])) continue
    const limit = `${limits[level]}% and ${least} ${PLURALS[kind]}`
    const rate = `${WINDOW_NAMES[window]} ${kind} rate of ${rateOf(counts, kind)}%`
    return [{ kind, level, text: `${rate} (${level} from ${limit})` }]
  }
  return []
}

function judgeCount(
  limits: ReputationLimits,
  { kind, window, count }: { kind: LimitKind; window: 'day' | 'week'; count: number },
): ReachedLimit[] {
  const level = levelFrom(limits, (limit) => count >= limit)
  if (level === 'healthy') return []
  const text = `${count} ${PLURALS[kind]} in ${window === 'day' ? '24 hours' : '7 days'}`
  return [{ kind, level, text: `${text} (${level} from ${limits[level]})` }]
}

function rateLevel(limits: ReputationLimits, counts: ReputationCounts, kind: LimitKind): Level {
  return levelFrom(limits, (percent) => reachesPercent(counts, kind, percent))
}

function levelFrom(limits: ReputationLimits, reaches: (limit: number) => boolean): Level {
  const isReached = (limit: number) => limit > 0 && reaches(limit)
  if (isReached(limits.critical)) return 'critical'
  return isReached(limits.warning) ? 'warning' : 'healthy'
}

/**
 * Whether the rate has reached a percentage. It multiplies and does not divide, so that a rate
 * exactly at the limit reaches it.
 */
function reachesPercent(counts: ReputationCounts, kind: LimitKind, percent: number): boolean {
  if (percent === 0 || counts.emails === 0) return false
  return 100 * counts[PLURALS[kind]] >= percent * counts.emails
}
