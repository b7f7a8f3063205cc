import type { Examples } from './operation-example.ts'

export const oauthExamples: Examples = {}
