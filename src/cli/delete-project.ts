/**
 * `project delete`. The command also deletes disabled projects and the project that sends the server's mail;
 * the API refuses both.
 */

import { deleteProject } from '../features/operation/erasure/end-project.ts'
import { findMailProjectId } from '../features/tenancy/accounts/platform-mail/mail-project.ts'
import { loadProject } from '../features/tenancy/accounts/projects/projects.ts'
import type { ServerProject } from '../records/project.ts'
import {
  type CommandContext,
  type Input,
  type Result,
  UsageError,
  withCore,
} from './engine/command.ts'
import { escapeControls } from './engine/text.ts'
import { askYes } from './options/questions.ts'

const MAIL_WARNING =
  'this project sends the mail of the server to its users: sign-ups will fail without it'

export async function deleteProjectCommand(context: CommandContext, input: Input): Promise<Result> {
  const [id = ''] = input.args
  const { terminal } = context
  const isSure = input.has('yes')
  if (!isSure && terminal.stdin.isTTY !== true) {
    throw new UsageError('add --yes: there is no terminal to ask for confirmation')
  }
  const { project, isDeleted } = await withCore(context, async (core) => {
    const found = await loadProject(core, id)
    if (id === (await findMailProjectId(core, core.store.read)))
      terminal.stderr.write(`pillarbox: warning: ${MAIL_WARNING}\n`)
    if (!isSure && !(await askYes(terminal, questionAbout(found)))) {
      return { project: found, isDeleted: false }
    }
    await deleteProject(core, id, { force: true })
    return { project: found, isDeleted: true }
  })
  const name = escapeControls(project.name)
  const text = isDeleted
    ? `Project ${name} was deleted. The running server, or the next one, deletes its data.`
    : `Project ${name} was not deleted.`
  return { json: { id, deleted: isDeleted }, text }
}

function questionAbout({ name, id }: ServerProject): string {
  return `Delete project ${escapeControls(name)} (${id}) and all of its data? Type "yes": `
}
