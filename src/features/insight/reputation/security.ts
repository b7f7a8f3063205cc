/**
 * The security metrics of a project: its counts in three windows, and what they mean. Clients are not told
 * the limits, which would show how much abuse goes unnoticed.
 */
import type { SecurityCounts, SecurityFinding, SecurityMetrics } from '../../../records/security.ts'
import { eq } from '../../../store/drizzle.ts'
import { projects } from '../../../store/schema/accounts.ts'
import type { Base } from '../../ground/base.ts'
import { projectNotFound } from '../../ground/directory.ts'
import { isYoung } from '../../mail/messages/accept/new-project-cap.ts'
import { judgeReputation, type ReachedLimit, rateOf } from './judge.ts'
import { type ReputationCounts, readWindows } from './windows.ts'

type Deps = Pick<Base, 'store' | 'config' | 'now'>

const NOTHING_SENT: ReputationCounts = { emails: 0, bounces: 0, complaints: 0 }

const TEXTS = {
  bounce: {
    critical: 'Too many emails bounce.',
    warning: 'Many emails bounce.',
  },
  complaint: {
    critical: 'Too many recipients complain.',
    warning: 'Many recipients complain.',
  },
} as const

/**
 * The metrics for operators, with the limits.
 * @throws AppError RESOURCE_NOT_FOUND
 */
export async function viewSecurity(deps: Deps, projectId: string): Promise<SecurityMetrics> {
  const { findings, view } = await load(deps, projectId)
  return withTexts(view, findings, ({ text }) => text)
}

/**
 * The metrics for clients, without the facts that would reveal the limits.
 * @throws AppError RESOURCE_NOT_FOUND
 */
export async function viewSecurityForClients(
  deps: Deps,
  projectId: string,
): Promise<SecurityMetrics> {
  const { findings, view } = await load(deps, projectId)
  const status = { ...view.status, twentyFourHour: toView(NOTHING_SENT), isNewProject: false }
  return withTexts({ ...view, status }, findings, ({ kind, level }) => TEXTS[kind][level])
}

async function load(
  { store, config, now }: Deps,
  projectId: string,
): Promise<{ findings: ReachedLimit[]; view: SecurityMetrics }> {
  const project = await store.read.select().from(projects).where(eq(projects.id, projectId)).get()
  if (project === undefined || project.deletedAt !== null) throw projectNotFound(projectId)
  const at = now()
  const since = project.reputationSince
  const windows = await readWindows(store.read, { projectId, since, at })
  const isNewProject = isYoung(project, at)
  const { findings, levels } = judgeReputation(config.security, windows, { isNew: isNewProject })
  const isCritical = findings.some(({ level }) => level === 'critical')
  const status = {
    projectId,
    isHealthy: !isCritical,
    shouldDisable: isCritical,
    twentyFourHour: toView(windows.day),
    sevenDay: toView(windows.week),
    allTime: toView(windows.all),
    isNewProject,
    violations: [],
    warnings: [],
    findings: findingsOf(findings),
  }
  return { findings, view: { status, levels, isDisabled: project.isDisabled } }
}

/** Each kind at each level once, whatever the number of limits that it reaches. */
function findingsOf(reached: readonly ReachedLimit[]): SecurityFinding[] {
  const once = new Map(reached.map(({ kind, level }) => [`${kind} ${level}`, { kind, level }]))
  return [...once.values()]
}

function toView(counts: ReputationCounts): SecurityCounts {
  return {
    total: counts.emails,
    bounces: counts.bounces,
    complaints: counts.complaints,
    bounceRate: rateOf(counts, 'bounce'),
    complaintRate: rateOf(counts, 'complaint'),
  }
}

/** Adds the texts of the findings; a text of several findings appears once. */
function withTexts(
  view: SecurityMetrics,
  findings: readonly ReachedLimit[],
  textOf: (finding: ReachedLimit) => string,
): SecurityMetrics {
  const textsOf = (level: ReachedLimit['level']) => [
    ...new Set(findings.filter((finding) => finding.level === level).map(textOf)),
  ]
  const violations = textsOf('critical')
  return { ...view, status: { ...view.status, violations, warnings: textsOf('warning') } }
}
