import { t } from '../../text/text.ts'
import { Page } from '../../ui/page.tsx'

export default function Account() {
  return <Page title={t('shell.account')} />
}
