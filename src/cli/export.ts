/** `export`: writes all data of a project into a new folder. */

import path from 'node:path'
import { formatInstant, now } from '../base/clock.ts'
import { DUTIES } from '../core/areas.ts'
import { watchSpace } from '../features/operation/backup/create/space-watch.ts'
import { exportProject } from '../features/operation/export/export-project.ts'
import { requireAccess, requireWritable } from './engine/access.ts'
import type { CommandContext, Input, Result } from './engine/command.ts'
import { asFileOwner } from './engine/file-owner.ts'
import { requireDatabase } from './engine/require-database.ts'
import { escapeControls, formatTable } from './engine/text.ts'

export async function exportCommand(context: CommandContext, input: Input): Promise<Result> {
  const { terminal } = context
  const loaded = await context.configuration.load()
  const { config } = loaded
  const projectId = input.required('project').trim().toLowerCase()
  const byDefault = `pillarbox-export-${projectId}-${formatInstant(now()).slice(0, 10)}`
  const folder = path.resolve(terminal.cwd, input.text('to') ?? byDefault)
  requireAccess(config)
  requireDatabase(loaded, terminal)
  const act = async () => {
    requireWritable(path.dirname(folder), 'Choose a folder that this user may write to, with --to.')
    const folders = [path.dirname(config.database.file), path.dirname(folder)]
    const { minFreeBytes } = config.backup
    const space = await watchSpace({ folders, minFreeBytes })
    try {
      return await exportProject(
        { config, now, signal: space.signal, tables: DUTIES.tables },
        { projectId, folder },
      )
    } finally {
      space.stop()
    }
  }
  const made = await asFileOwner(config, act, { isFinal: terminal.isWholeProcess })
  const rows = Object.entries(made.rows).filter(([, count]) => count > 0)
  const table = formatTable(
    ['file', 'records'],
    rows.map(([file, count]) => [file, String(count)]),
    'The project is empty.',
  )
  const head = `Project ${made.name} was exported to ${folder}, with ${made.files} files besides.`
  const text = [escapeControls(head), ...describeWithheld(made.withheld), table].join('\n')
  return { json: { projectId, ...made }, text }
}

function describeWithheld(ids: readonly string[]): string[] {
  if (ids.length === 0) return []
  const which = ids.join(', ')
  return [`Warning: received mail without its file, because the search for links failed: ${which}.`]
}
