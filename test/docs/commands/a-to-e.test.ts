import { describePages } from './run-pages.ts'

describePages('a', 'e')
