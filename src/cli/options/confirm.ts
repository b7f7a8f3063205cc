/** Asks for a confirmation at a terminal. */
import { createInterface } from 'node:readline'
import type { Terminal } from '../engine/terminal.ts'

/** Prints the question to stderr. Only the whole word is a confirmation. */
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
