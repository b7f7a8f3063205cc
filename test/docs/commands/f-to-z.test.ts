import { describePages } from './run-pages.ts'

describePages('f', 'z')
