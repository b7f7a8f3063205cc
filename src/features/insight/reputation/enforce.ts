/**
 * Judges projects after permanent bounces and complaints, and disables those that have become critical,
 * in the transaction that has counted them. The project that sends the mail of this server is never
 * disabled, because nobody could be told of it; a line in the log warns of it once an hour.
 */
import { HOUR_MS } from '../../../base/clock.ts'
import type { Project } from '../../../store/schema/accounts.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import { isYoung } from '../../mail/messages/accept/new-project-cap.ts'
import { findMailProjectId } from '../../tenancy/accounts/platform-mail/mail-project.ts'
import { disableProject } from '../../tenancy/accounts/projects/disable.ts'
import { readWindows } from './counters.ts'
import { judge } from './judge.ts'

export type EnforceDeps = Pick<Base, 'config' | 'directory' | 'now' | 'log'>

/** The columns of a project that its judgement needs. */
type JudgedProject = Pick<Project, 'id' | 'name' | 'isDisabled' | 'reputationSince' | 'createdAt'>

export type Enforcement = {
  /** Judges the projects, and disables the critical ones. */
  enforce(tx: Tx, projects: readonly JudgedProject[]): Promise<void>
}

export function createEnforcement(deps: EnforceDeps): Enforcement {
  const warnedAt = new Map<string, number>()

  function warn(project: JudgedProject, violations: readonly string[]): void {
    const at = deps.now()
    if (at - (warnedAt.get(project.id) ?? Number.NEGATIVE_INFINITY) < HOUR_MS) return
    warnedAt.set(project.id, at)
    const facts = { projectId: project.id, name: project.name, violations }
    deps.log.warn(facts, 'a project has a critical reputation and is not disabled')
  }

  async function enforceOne(tx: Tx, project: JudgedProject): Promise<void> {
    if (project.isDisabled) return
    const at = deps.now()
    const violations = await findViolations(deps, tx, { project, at })
    if (violations.length === 0) return
    const isAutomatic = deps.config.security.autoDisable
    if (!isAutomatic || project.id === (await findMailProjectId(deps, tx))) {
      tx.afterCommit(() => warn(project, violations))
      return
    }
    const { id: projectId, name } = project
    await disableProject(deps, tx, { projectId, reason: 'EMAIL_REPUTATION', at })
    tx.afterCommit(() => {
      deps.log.warn({ projectId, name, violations }, 'a project was disabled')
    })
  }

  return {
    async enforce(tx, projects) {
      for (const project of projects) await enforceOne(tx, project)
    },
  }
}

async function findViolations(
  { config }: EnforceDeps,
  tx: Tx,
  { project, at }: { project: JudgedProject; at: number },
): Promise<string[]> {
  const { id: projectId, reputationSince: since } = project
  const windows = await readWindows(tx, { projectId, since, at })
  const { findings } = judge(config.security, windows, { isNew: isYoung(project, at) })
  return findings.filter(({ level }) => level === 'critical').map(({ text }) => text)
}
