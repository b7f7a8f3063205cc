/** `send`: accepts one email as `POST /v1/send` does; a running server delivers it. */
import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { AppError, describeError } from '../errors.ts'
import type { Project } from '../features/accounts/rows.ts'
import { projectNotFound } from '../features/directory.ts'
import { acceptMessage } from '../features/messages/accept/accept-message.ts'
import type { OpenCore } from '../features/open-core.ts'
import { parseAddress } from '../mail/address/address.ts'
import type { NamedMailbox } from '../mail/address/named-mailbox.ts'
import { MAX_SUBJECT_LENGTH } from '../mail/limits.ts'
import {
  type CommandContext,
  type Input,
  type Result,
  UsageError,
  withCore,
} from './engine/command.ts'
import { escapeControls } from './engine/text.ts'

export async function sendCommand(context: CommandContext, input: Input): Promise<Result> {
  const request = {
    to: [readAddress(input, 'to')],
    from: readAddress(input, 'from'),
    subject: readSubject(input),
    body: await readBody(context, input),
    text: readText(input),
  }
  return withCore(context, async (core) => {
    const project = await getProject(core, input.required('project'))
    const [accepted] = await acceptMessage(core, { project, request })
    if (accepted === undefined) throw new TypeError('an accepted request has no email')
    const { id, contactId, recipient } = accepted
    const text = `Accepted for ${escapeControls(recipient)}: pillarbox queue show ${id}`
    return { json: { id, contact: { id: contactId, email: recipient } }, text }
  })
}

function readAddress(input: Input, option: 'to' | 'from'): NamedMailbox {
  const address = parseAddress(input.required(option))
  if (address === undefined) throw new UsageError(`--${option}: expected one email address`)
  return { address, name: null }
}

function readSubject(input: Input): string {
  const subject = input.required('subject')
  const isLine = /^[^\x00-\x08\x0a-\x1f\x7f]+$/.test(subject)
  if (isLine && subject.length <= MAX_SUBJECT_LENGTH) return subject
  throw new UsageError(`--subject: expected one line of at most ${MAX_SUBJECT_LENGTH} characters`)
}

async function readBody({ terminal }: CommandContext, input: Input): Promise<string> {
  const [html, file] = [input.text('html'), input.text('htmlFile')]
  if ((html === undefined) === (file === undefined)) {
    throw new UsageError('either --html or --html-file is needed')
  }
  const body = html ?? (await readTextFile(path.resolve(terminal.cwd, file ?? '')))
  if (body === '') throw new UsageError('the body is empty')
  return body
}

function readText(input: Input): string | undefined {
  const text = input.text('text')
  if (text === '') throw new UsageError('the text is empty')
  return text
}

async function readTextFile(file: string): Promise<string> {
  const bytes = await readFile(file).catch((error: unknown) => {
    throw new UsageError(`--html-file: ${describeError(error)}`, { cause: error })
  })
  if (!isUtf8(bytes)) throw new UsageError('--html-file: the file is not UTF-8')
  return bytes.toString('utf8')
}

/** @throws AppError RESOURCE_NOT_FOUND, PROJECT_DISABLED */
async function getProject({ directory }: OpenCore, id: string): Promise<Project> {
  const project = await directory.findProject(id)
  if (project === undefined) throw projectNotFound(id)
  if (!project.isDisabled) return project
  throw new AppError('PROJECT_DISABLED', `This project is disabled: ${project.disabledReason}.`, {
    suggestion: `Run "pillarbox project update ${id} --enable" to let it send again.`,
  })
}
