/**
 * The examples once more, sent by members of the project with their sessions: every route of a
 * project's data works alike for them.
 */
import { testExamples } from './example-run.ts'

testExamples('member')
