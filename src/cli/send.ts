/** `send`: accepts one email as `POST /v1/send` does; a running server delivers it. */
import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { AppError, describeError } from '../base/errors.ts'
import type { OpenCore } from '../core/open-core.ts'
import { projectNotFound } from '../features/ground/directory.ts'
import {
  type AcceptedMessage,
  acceptOnce,
} from '../features/mail/messages/accept/accept-message.ts'
import {
  createTemplateChecker,
  describeFieldFault,
  type FieldFault,
} from '../features/mail/messages/accept/template-check.ts'
import { findSuppressed } from '../features/mail/suppressions/suppressions.ts'
import type { Project } from '../features/tenancy/accounts/rows.ts'
import { type NamedMailbox, parseNamedMailbox } from '../formats/address/named-mailbox.ts'
import { MAX_SUBJECT_LENGTH } from '../formats/limits.ts'
import { isOneFieldLine } from '../formats/one-line.ts'
import {
  type CommandContext,
  type Input,
  type Result,
  UsageError,
  withCore,
} from './engine/command.ts'
import { formatCommand } from './engine/command-line.ts'
import { escapeControls } from './engine/text.ts'

export async function sendCommand(context: CommandContext, input: Input): Promise<Result> {
  const request = {
    to: [readAddress(input, 'to')],
    from: readAddress(input, 'from'),
    subject: readSubject(input),
    ...(await readTexts(context, input)),
  }
  return withCore(context, async (core) => {
    const project = await loadProject(core, input.required('project'))
    const once = { idempotency: undefined, toResponseData: (accepted: AcceptedMessage) => accepted }
    const check = { find: createTemplateChecker() }
    const { emails, ...accepted } = await acceptOnce(core, { project, request, check }, once)
    const warnings = [...accepted.faults.map(warnOfFault), ...accepted.warnings]
    const [email] = emails
    if (email === undefined) throw new TypeError('an accepted request has no email')
    const { id, contactId, recipient, state } = email
    const history = formatCommand(['queue', 'show', id], context.configPath)
    const lines = [
      state === 'suppressed'
        ? `Not sent: ${escapeControls(recipient)} is suppressed (${await findReason(core, { project, recipient })}): ${history}`
        : `Accepted for ${escapeControls(recipient)}: ${history}`,
      ...warnings.map((warning) => `Warning: ${escapeControls(warning)}`),
    ]
    const facts = { id, contact: { id: contactId, email: recipient }, state }
    const json = warnings.length === 0 ? facts : { ...facts, warnings }
    return { json, text: lines.join('\n') }
  })
}

/**
 * Returns the reason of the suppression that ended the email; `removed since` if it no longer
 * exists.
 */
async function findReason(
  core: OpenCore,
  { project, recipient }: { project: Project; recipient: string },
): Promise<string> {
  const found = await findSuppressed(core, recipient)
  return found.find(({ projectId }) => projectId === project.id)?.reason ?? 'removed since'
}

function warnOfFault(fault: FieldFault): string {
  return `${fault.field}: ${describeFieldFault(fault)}`
}

function readAddress(input: Input, option: 'to' | 'from'): NamedMailbox {
  const mailbox = parseNamedMailbox(input.required(option))
  if (mailbox === undefined) throw new UsageError(`--${option}: expected one email address`)
  return mailbox
}

function readSubject(input: Input): string {
  const subject = input.required('subject')
  if (subject !== '' && isOneFieldLine(subject) && subject.length <= MAX_SUBJECT_LENGTH)
    return subject
  throw new UsageError(`--subject: expected one line of at most ${MAX_SUBJECT_LENGTH} characters`)
}

/** Reads the HTML, the text or both from the options. */
async function readTexts({ terminal }: CommandContext, input: Input) {
  const [html, file, text] = [input.text('html'), input.text('htmlFile'), input.text('text')]
  if (html !== undefined && file !== undefined) {
    throw new UsageError('either --html or --html-file, not both')
  }
  const body = file === undefined ? html : await readTextFile(path.resolve(terminal.cwd, file))
  if (body === undefined && text === undefined) {
    throw new UsageError('--html, --html-file or --text is needed')
  }
  if (body === '') throw new UsageError('the body is empty')
  if (text === '') throw new UsageError('the text is empty')
  return { body, text }
}

async function readTextFile(file: string): Promise<string> {
  const bytes = await readFile(file).catch((error: unknown) => {
    throw new UsageError(`--html-file: ${describeError(error)}`, { cause: error })
  })
  if (!isUtf8(bytes)) throw new UsageError('--html-file: the file is not UTF-8')
  return bytes.toString('utf8')
}

/**
 * Loads the project that sends the email.
 * @throws AppError RESOURCE_NOT_FOUND, PROJECT_DISABLED
 */
async function loadProject({ directory }: OpenCore, id: string): Promise<Project> {
  const project = await directory.findProject(id)
  if (project === undefined) throw projectNotFound(id)
  if (!project.isDisabled) return project
  throw new AppError('PROJECT_DISABLED', `This project is disabled: ${project.disabledReason}.`, {
    suggestion: `Run "pillarbox project update ${id} --enable" to let it send again.`,
  })
}
