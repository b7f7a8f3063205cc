/**
 * Asks questions at a terminal, on standard error. After a wrong answer, the question is asked
 * again with the reason; an empty answer means the default. Ctrl-C and Ctrl-D end the questions
 * with an error. Text that is typed before its question counts as an answer, but is not echoed,
 * because it may be a password.
 */
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { AppError } from '../../base/errors.ts'
import type { Terminal } from '../engine/terminal.ts'

export type Question<T> = {
  text: string
  /** The text that an empty answer stands for. */
  byDefault?: string
  /**
   * Converts the answer.
   * @throws Error with the reason why the answer is wrong
   */
  read(answer: string): T
  /** Whether the answer is hidden while it is typed. */
  isHidden?: boolean
}

export type Questions = {
  ask<T>(question: Question<T>): Promise<T>
  close(): void
}

export function openQuestions({ stdin, stderr }: Pick<Terminal, 'stdin' | 'stderr'>): Questions {
  let isEchoed = false
  let isClosed = false
  const output = new Writable({
    write(chunk, _encoding, done) {
      if (isEchoed) stderr.write(chunk)
      done()
    },
  })
  const typed = createInterface({ input: stdin, output, terminal: true, historySize: 0 })
  typed.on('line', () => {
    isEchoed = false
  })
  typed.on('close', () => {
    isClosed = true
  })
  const lines = typed[Symbol.asyncIterator]()

  async function askOnce({ text, byDefault, isHidden: hides = false }: Question<unknown>) {
    const choice = byDefault === undefined ? '' : ` [${byDefault}]`
    if (isClosed) throw unanswered()
    isEchoed = !hides
    typed.setPrompt(`${text}${choice}: `)
    if (hides) stderr.write(typed.getPrompt())
    else typed.prompt()
    const { value, done } = await lines.next()
    isEchoed = false
    if (hides || done === true) stderr.write('\n')
    if (done === true) throw unanswered()
    const answer = hides ? value : value.trim()
    return answer === '' && byDefault !== undefined ? byDefault : answer
  }

  return {
    async ask(question) {
      for (;;) {
        const answer = await askOnce(question)
        try {
          return question.read(answer)
        } catch (error) {
          if (!(error instanceof Error)) throw error
          stderr.write(`  ${error.message}\n`)
        }
      }
    },
    close: () => typed.close(),
  }
}

function unanswered(): AppError {
  return new AppError('BAD_REQUEST', 'The questions were not answered; nothing was written.')
}

/** Asks for a confirmation at a terminal, on standard error. Only the whole word `yes` confirms. */
export async function askYes(
  { stdin, stderr }: Pick<Terminal, 'stdin' | 'stderr'>,
  question: string,
): Promise<boolean> {
  stderr.write(question)
  const typed = createInterface({ input: stdin })
  try {
    for await (const line of typed) return line.trim().toLowerCase() === 'yes'
    return false
  } finally {
    typed.close()
  }
}
