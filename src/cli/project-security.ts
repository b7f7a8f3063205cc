/** `project security`: the counts from which the reputation of a project is judged. */
import { viewSecurity } from '../features/insight/reputation/security.ts'
import type { SecurityCounts, SecurityRecord } from '../records/security.ts'
import { type CommandContext, type Input, type Result, withCore } from './engine/command.ts'
import { formatTable } from './engine/text.ts'

export async function projectSecurityCommand(
  context: CommandContext,
  { args }: Input,
): Promise<Result> {
  const [id = ''] = args
  const security = await withCore(context, (core) => viewSecurity(core, id))
  return { json: security, text: describe(security) }
}

function describe({ status, isDisabled }: SecurityRecord): string {
  const rows = [
    toRow('24 hours', status.twentyFourHour),
    toRow('7 days', status.sevenDay),
    toRow('all', status.allTime),
  ]
  const head = ['', 'EMAILS', 'HARD BOUNCES', 'COMPLAINTS']
  const findings = [
    ...status.violations.map((text) => `critical: ${text}`),
    ...status.warnings.map((text) => `warning: ${text}`),
  ]
  const standing = [
    status.isNewProject ? 'The limits of new projects apply.' : null,
    isDisabled ? 'The project is disabled.' : null,
    findings.length === 0 ? 'No limit is reached.' : findings.join('\n'),
  ].filter((line) => line !== null)
  return [formatTable(head, rows, ''), '', ...standing].join('\n')
}

function toRow(name: string, window: SecurityCounts): string[] {
  const { total, bounces, complaints, bounceRate, complaintRate } = window
  return [name, String(total), withRate(bounces, bounceRate), withRate(complaints, complaintRate)]
}

function withRate(count: number, rate: number): string {
  return count === 0 ? '0' : `${count} (${rate}%)`
}
