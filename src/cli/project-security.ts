/** `project security`: the counts from which the reputation of a project is judged. */
import { viewSecurity } from '../features/insight/reputation/security.ts'
import type { SecurityMetrics } from '../records/security.ts'
import { SECURITY_COLUMNS } from '../records/tables.ts'
import { type CommandContext, type Input, type Result, withCore } from './engine/command.ts'
import { formatRecords } from './engine/text.ts'

export async function projectSecurityCommand(
  context: CommandContext,
  { args }: Input,
): Promise<Result> {
  const [id = ''] = args
  const security = await withCore(context, (core) => viewSecurity(core, id))
  return { json: security, text: describe(security) }
}

function describe({ status, isDisabled }: SecurityMetrics): string {
  const windows = [
    { name: '24 hours', counts: status.twentyFourHour },
    { name: '7 days', counts: status.sevenDay },
    { name: 'all', counts: status.allTime },
  ]
  const findings = [
    ...status.violations.map((text) => `critical: ${text}`),
    ...status.warnings.map((text) => `warning: ${text}`),
  ]
  const standing = [
    status.isNewProject ? 'The limits of new projects apply.' : null,
    isDisabled ? 'The project is disabled.' : null,
    findings.length === 0 ? 'No limit is reached.' : findings.join('\n'),
  ].filter((line) => line !== null)
  return [formatRecords(SECURITY_COLUMNS, windows, ''), '', ...standing].join('\n')
}
