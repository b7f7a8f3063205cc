/**
 * Runs one command of a backup in a process of its own, and prints `begun` when its files appear: what a
 * test kills. Arguments: those of the command line.
 */
import { runCli } from '../../../../src/cli/cli.ts'

process.stdout.write('begun\n')
process.exitCode = await runCli(process.argv.slice(2))
