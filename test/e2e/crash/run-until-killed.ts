import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { childProgram } from '../../child-program.ts'

/**
 * Runs a program of this folder, with one argument, until it has written its first line, and about `runMs`
 * longer; then it is killed.
 */
export async function runUntilKilled(
  program: string,
  argument: string,
  runMs: number,
): Promise<void> {
  const args = [childProgram(`test/e2e/crash/${program}`), argument]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  await Promise.race([once(child.stdout, 'data'), exited])
  child.stdout.resume()
  assert.equal(child.exitCode, null)
  await sleep(runMs + Math.random() * 200)
  child.kill('SIGKILL')
  await exited
}
