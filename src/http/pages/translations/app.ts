/**
 * The texts of the pages at `/app` in each language. `{email}` stands for the user's address, `{provider}`
 * for the name of a provider such as GitHub.
 */
import type { LoginFailureCode } from '../../../features/tenancy/accounts/oauth/login-failure.ts'
import type { Language } from '../../../formats/languages.ts'

export type AppTexts = {
  /** `next`: what to do in place of a dashboard; projects and calls follow. */
  home: { title: string; text: string; next: string; docs: string; logOut: string }
  login: {
    title: string
    /** A link for each provider. */
    with: string
    /** How to log in with a password. */
    api: string
    /** The call that signs up follows. */
    signUp: string
    /** Nobody signs up here. */
    closed: string
  }
  /** Why a login failed, and what helps. */
  failures: Record<LoginFailureCode, string>
  notFound: { title: string; text: string; home: string }
  failed: { title: string; text: string }
}

export const APP_TRANSLATIONS: Readonly<Record<Language, AppTexts>> = {
  en: {
    home: {
      title: 'You are logged in',
      text: 'You are logged in as {email}.',
      next: 'There is no dashboard yet. Give your program the id of a project, and your password or the cookie of a session:',
      docs: 'Read the documentation',
      logOut: 'Log out',
    },
    login: {
      title: 'Log in',
      with: 'Log in with {provider}',
      api: 'With a password you log in by the API: POST /auth/login.',
      signUp: 'A new account is made in the same way:',
      closed: 'New accounts are made by the operator of this server.',
    },
    failures: {
      access_denied: 'You cancelled the login, or the provider refused it.',
      state_mismatch:
        'This login was not begun in this browser, or it was used already. Please log in again.',
      expired: 'The login took too long. Please log in again.',
      email_unverified:
        'Your account at the provider has no verified email address. Please verify it there and log in again.',
      method_mismatch:
        'Your email address already has an account here with another way to log in. Please use that one.',
      signup_disabled:
        'You have no account here, and new accounts are not allowed. Please ask the operator of this server for one.',
      address_refused:
        'New accounts cannot have your email address: it is disposable, has a plus sign, or its domain receives no mail.',
      provider_error: 'The provider did not answer as it should. Please try again in a moment.',
      too_many_attempts: 'There were too many logins from your network. Please wait a minute.',
      unavailable: 'This server cannot log you in at the moment. Please try again later.',
      other: 'The login failed. Please try again.',
    },
    notFound: {
      title: 'There is no such page',
      text: 'Please check the address.',
      home: 'To the start page',
    },
    failed: {
      title: 'Something went wrong',
      text: 'Please try again in a moment.',
    },
  },
  nl: {
    home: {
      title: 'Je bent ingelogd',
      text: 'Je bent ingelogd als {email}.',
      next: 'Er is nog geen dashboard. Geef je programma de id van een project, en je wachtwoord of de cookie van een sessie:',
      docs: 'Lees de documentatie',
      logOut: 'Uitloggen',
    },
    login: {
      title: 'Inloggen',
      with: 'Inloggen met {provider}',
      api: 'Met een wachtwoord log je in via de API: POST /auth/login.',
      signUp: 'Een nieuw account maak je op dezelfde manier:',
      closed: 'Nieuwe accounts maakt de beheerder van deze server.',
    },
    failures: {
      access_denied: 'Je hebt het inloggen geannuleerd, of de aanbieder heeft het geweigerd.',
      state_mismatch:
        'Dit inloggen is niet in deze browser begonnen, of is al gebruikt. Log opnieuw in.',
      expired: 'Het inloggen duurde te lang. Log opnieuw in.',
      email_unverified:
        'Je account bij de aanbieder heeft geen geverifieerd e-mailadres. Verifieer het daar en log opnieuw in.',
      method_mismatch:
        'Je e-mailadres heeft hier al een account met een andere manier van inloggen. Gebruik die.',
      signup_disabled:
        'Je hebt hier geen account, en nieuwe accounts zijn niet toegestaan. Vraag de beheerder van deze server erom.',
      address_refused:
        'Nieuwe accounts kunnen je e-mailadres niet gebruiken: het is een wegwerpadres, bevat een plusteken, of het domein ontvangt geen e-mail.',
      provider_error:
        'De aanbieder gaf geen geldig antwoord. Probeer het over een ogenblik opnieuw.',
      too_many_attempts: 'Er is te vaak ingelogd vanaf jouw netwerk. Wacht een minuut.',
      unavailable: 'Deze server kan je op dit moment niet inloggen. Probeer het later opnieuw.',
      other: 'Het inloggen is mislukt. Probeer het opnieuw.',
    },
    notFound: {
      title: 'Deze pagina bestaat niet',
      text: 'Controleer het adres.',
      home: 'Naar de startpagina',
    },
    failed: {
      title: 'Er ging iets mis',
      text: 'Probeer het over een ogenblik opnieuw.',
    },
  },
  fr: {
    home: {
      title: 'Vous êtes connecté',
      text: 'Vous êtes connecté en tant que {email}.',
      next: 'Il n’y a pas encore de tableau de bord. Donnez à votre programme l’identifiant d’un projet, et votre mot de passe ou le cookie d’une session :',
      docs: 'Lire la documentation',
      logOut: 'Se déconnecter',
    },
    login: {
      title: 'Se connecter',
      with: 'Se connecter avec {provider}',
      api: 'Avec un mot de passe, connectez-vous par l’API : POST /auth/login.',
      signUp: 'Un nouveau compte se crée de la même façon :',
      closed: 'Les nouveaux comptes sont créés par l’opérateur de ce serveur.',
    },
    failures: {
      access_denied: 'Vous avez annulé la connexion, ou le fournisseur l’a refusée.',
      state_mismatch:
        'Cette connexion n’a pas été commencée dans ce navigateur, ou elle a déjà servi. Veuillez vous reconnecter.',
      expired: 'La connexion a pris trop de temps. Veuillez vous reconnecter.',
      email_unverified:
        'Votre compte chez le fournisseur n’a pas d’adresse e-mail vérifiée. Vérifiez-la là-bas, puis reconnectez-vous.',
      method_mismatch:
        'Votre adresse e-mail a déjà un compte ici, avec un autre moyen de connexion. Veuillez utiliser celui-là.',
      signup_disabled:
        'Vous n’avez pas de compte ici, et les nouveaux comptes ne sont pas autorisés. Adressez-vous à l’opérateur de ce serveur.',
      address_refused:
        'Les nouveaux comptes ne peuvent pas utiliser votre adresse e-mail : elle est jetable, contient un signe plus, ou son domaine ne reçoit pas d’e-mails.',
      provider_error:
        'Le fournisseur n’a pas répondu correctement. Veuillez réessayer dans un instant.',
      too_many_attempts:
        'Trop de connexions sont venues de votre réseau. Veuillez attendre une minute.',
      unavailable:
        'Ce serveur ne peut pas vous connecter pour le moment. Veuillez réessayer plus tard.',
      other: 'La connexion a échoué. Veuillez réessayer.',
    },
    notFound: {
      title: 'Cette page n’existe pas',
      text: 'Veuillez vérifier l’adresse.',
      home: 'Vers la page d’accueil',
    },
    failed: {
      title: 'Une erreur est survenue',
      text: 'Veuillez réessayer dans un instant.',
    },
  },
  hi: {
    home: {
      title: 'आप लॉग इन हैं',
      text: 'आप {email} के रूप में लॉग इन हैं।',
      next: 'अभी कोई डैशबोर्ड नहीं है। अपने प्रोग्राम को किसी प्रोजेक्ट की id, और अपना पासवर्ड या किसी सत्र की कुकी दें:',
      docs: 'दस्तावेज़ पढ़ें',
      logOut: 'लॉग आउट करें',
    },
    login: {
      title: 'लॉग इन करें',
      with: '{provider} से लॉग इन करें',
      api: 'पासवर्ड से लॉग इन API के ज़रिए होता है: POST /auth/login।',
      signUp: 'नया खाता भी इसी तरह बनता है:',
      closed: 'नए खाते इस सर्वर का संचालक बनाता है।',
    },
    failures: {
      access_denied: 'आपने लॉग इन रद्द कर दिया, या प्रदाता ने उसे अस्वीकार कर दिया।',
      state_mismatch:
        'यह लॉग इन इस ब्राउज़र में शुरू नहीं हुआ था, या पहले ही इस्तेमाल हो चुका है। कृपया फिर से लॉग इन करें।',
      expired: 'लॉग इन में बहुत समय लग गया। कृपया फिर से लॉग इन करें।',
      email_unverified:
        'प्रदाता के पास आपके खाते में कोई सत्यापित ईमेल पता नहीं है। कृपया उसे वहाँ सत्यापित करें और फिर से लॉग इन करें।',
      method_mismatch:
        'आपके ईमेल पते का यहाँ पहले से एक खाता है, जिसमें लॉग इन का दूसरा तरीका है। कृपया उसी का उपयोग करें।',
      signup_disabled:
        'यहाँ आपका कोई खाता नहीं है, और नए खातों की अनुमति नहीं है। कृपया इस सर्वर के संचालक से खाता माँगें।',
      address_refused:
        'नए खातों में आपका ईमेल पता नहीं चल सकता: वह अस्थायी है, उसमें प्लस चिह्न है, या उसके डोमेन पर मेल नहीं आती।',
      provider_error: 'प्रदाता ने सही जवाब नहीं दिया। कृपया थोड़ी देर में फिर से कोशिश करें।',
      too_many_attempts: 'आपके नेटवर्क से बहुत अधिक लॉग इन हुए हैं। कृपया एक मिनट प्रतीक्षा करें।',
      unavailable: 'यह सर्वर अभी आपको लॉग इन नहीं कर सकता। कृपया बाद में फिर से कोशिश करें।',
      other: 'लॉग इन विफल रहा। कृपया फिर से कोशिश करें।',
    },
    notFound: {
      title: 'ऐसा कोई पृष्ठ नहीं है',
      text: 'कृपया पता जाँच लें।',
      home: 'मुख्य पृष्ठ पर जाएँ',
    },
    failed: {
      title: 'कुछ गड़बड़ हो गई',
      text: 'कृपया थोड़ी देर में फिर से कोशिश करें।',
    },
  },
  de: {
    home: {
      title: 'Du bist angemeldet',
      text: 'Du bist als {email} angemeldet.',
      next: 'Es gibt noch keine Oberfläche. Gib deinem Programm die Id eines Projekts und dein Passwort oder das Cookie einer Sitzung:',
      docs: 'Dokumentation lesen',
      logOut: 'Abmelden',
    },
    login: {
      title: 'Anmelden',
      with: 'Mit {provider} anmelden',
      api: 'Mit einem Passwort meldest du dich über die API an: POST /auth/login.',
      signUp: 'Ein neues Konto entsteht auf dieselbe Weise:',
      closed: 'Neue Konten legt der Betreiber dieses Servers an.',
    },
    failures: {
      access_denied: 'Du hast die Anmeldung abgebrochen, oder der Anbieter hat sie abgelehnt.',
      state_mismatch:
        'Diese Anmeldung wurde nicht in diesem Browser begonnen oder schon benutzt. Bitte melde dich noch einmal an.',
      expired: 'Die Anmeldung hat zu lange gedauert. Bitte melde dich noch einmal an.',
      email_unverified:
        'Dein Konto beim Anbieter hat keine bestätigte E-Mail-Adresse. Bitte bestätige sie dort und melde dich noch einmal an.',
      method_mismatch:
        'Deine E-Mail-Adresse hat hier schon ein Konto mit einer anderen Art der Anmeldung. Bitte benutze diese.',
      signup_disabled:
        'Du hast hier kein Konto, und neue Konten sind nicht erlaubt. Bitte wende dich an den Betreiber dieses Servers.',
      address_refused:
        'Neue Konten können deine E-Mail-Adresse nicht haben: Sie ist eine Wegwerfadresse, enthält ein Pluszeichen, oder ihre Domain empfängt keine E-Mails.',
      provider_error:
        'Der Anbieter hat nicht richtig geantwortet. Bitte versuche es gleich noch einmal.',
      too_many_attempts: 'Aus deinem Netz kamen zu viele Anmeldungen. Bitte warte eine Minute.',
      unavailable:
        'Dieser Server kann dich im Moment nicht anmelden. Bitte versuche es später noch einmal.',
      other: 'Die Anmeldung ist fehlgeschlagen. Bitte versuche es noch einmal.',
    },
    notFound: {
      title: 'Diese Seite gibt es nicht',
      text: 'Bitte prüfe die Adresse.',
      home: 'Zur Startseite',
    },
    failed: {
      title: 'Etwas ist schiefgegangen',
      text: 'Bitte versuche es gleich noch einmal.',
    },
  },
  pt: {
    home: {
      title: 'Sessão iniciada',
      text: 'Você entrou como {email}.',
      next: 'Ainda não há um painel. Dê ao seu programa o id de um projeto e a sua senha ou o cookie de uma sessão:',
      docs: 'Ler a documentação',
      logOut: 'Sair',
    },
    login: {
      title: 'Entrar',
      with: 'Entrar com {provider}',
      api: 'Com uma senha, entre pela API: POST /auth/login.',
      signUp: 'Uma nova conta é criada da mesma forma:',
      closed: 'Novas contas são criadas pelo operador deste servidor.',
    },
    failures: {
      access_denied: 'Você cancelou o login, ou o provedor o recusou.',
      state_mismatch:
        'Este login não foi iniciado neste navegador ou já foi usado. Entre novamente.',
      expired: 'O login demorou demais. Entre novamente.',
      email_unverified:
        'Sua conta no provedor não tem um endereço de e-mail verificado. Verifique-o lá e entre novamente.',
      method_mismatch:
        'Seu endereço de e-mail já tem uma conta aqui, com outra forma de entrar. Use essa forma.',
      signup_disabled:
        'Você não tem uma conta aqui, e novas contas não são permitidas. Peça uma ao operador deste servidor.',
      address_refused:
        'Novas contas não podem usar o seu endereço de e-mail: ele é descartável, contém um sinal de mais, ou o domínio dele não recebe e-mails.',
      provider_error: 'O provedor não respondeu como deveria. Tente novamente em instantes.',
      too_many_attempts: 'Houve logins demais a partir da sua rede. Aguarde um minuto.',
      unavailable:
        'Este servidor não pode fazer o seu login no momento. Tente novamente mais tarde.',
      other: 'O login falhou. Tente novamente.',
    },
    notFound: {
      title: 'Esta página não existe',
      text: 'Verifique o endereço.',
      home: 'Ir para a página inicial',
    },
    failed: {
      title: 'Algo deu errado',
      text: 'Tente novamente em instantes.',
    },
  },
  bg: {
    home: {
      title: 'Влезли сте',
      text: 'Влезли сте като {email}.',
      next: 'Все още няма табло. Дайте на програмата си идентификатора на проект и паролата си или бисквитката на сесия:',
      docs: 'Прочетете документацията',
      logOut: 'Изход',
    },
    login: {
      title: 'Вход',
      with: 'Вход с {provider}',
      api: 'С парола се влиза чрез API: POST /auth/login.',
      signUp: 'Нов профил се създава по същия начин:',
      closed: 'Новите профили се създават от оператора на този сървър.',
    },
    failures: {
      access_denied: 'Отказахте се от входа или доставчикът го отхвърли.',
      state_mismatch:
        'Този вход не е започнат в този браузър или вече е използван. Моля, влезте отново.',
      expired: 'Входът отне твърде много време. Моля, влезте отново.',
      email_unverified:
        'Профилът ви при доставчика няма потвърден имейл адрес. Моля, потвърдете го там и влезте отново.',
      method_mismatch:
        'Имейл адресът ви вече има профил тук с друг начин на влизане. Моля, използвайте него.',
      signup_disabled:
        'Нямате профил тук, а нови профили не са разрешени. Моля, обърнете се към оператора на този сървър.',
      address_refused:
        'Нови профили не могат да използват вашия имейл адрес: той е за еднократна употреба, съдържа знак плюс или домейнът му не получава поща.',
      provider_error: 'Доставчикът не отговори както трябва. Моля, опитайте отново след малко.',
      too_many_attempts:
        'От вашата мрежа имаше твърде много влизания. Моля, изчакайте една минута.',
      unavailable: 'В момента този сървър не може да ви впише. Моля, опитайте отново по-късно.',
      other: 'Входът не успя. Моля, опитайте отново.',
    },
    notFound: {
      title: 'Няма такава страница',
      text: 'Моля, проверете адреса.',
      home: 'Към началната страница',
    },
    failed: {
      title: 'Нещо се обърка',
      text: 'Моля, опитайте отново след малко.',
    },
  },
  cs: {
    home: {
      title: 'Jste přihlášeni',
      text: 'Jste přihlášeni jako {email}.',
      next: 'Zatím tu není žádná nástěnka. Dejte svému programu id projektu a své heslo nebo cookie relace:',
      docs: 'Přečíst dokumentaci',
      logOut: 'Odhlásit se',
    },
    login: {
      title: 'Přihlášení',
      with: 'Přihlásit se přes {provider}',
      api: 'S heslem se přihlásíte přes API: POST /auth/login.',
      signUp: 'Nový účet vznikne stejným způsobem:',
      closed: 'Nové účty zakládá provozovatel tohoto serveru.',
    },
    failures: {
      access_denied: 'Přihlášení jste zrušili, nebo ho poskytovatel odmítl.',
      state_mismatch:
        'Toto přihlášení nezačalo v tomto prohlížeči, nebo už bylo použito. Přihlaste se prosím znovu.',
      expired: 'Přihlášení trvalo příliš dlouho. Přihlaste se prosím znovu.',
      email_unverified:
        'Váš účet u poskytovatele nemá ověřenou e-mailovou adresu. Ověřte ji tam prosím a přihlaste se znovu.',
      method_mismatch:
        'Vaše e-mailová adresa tu už má účet s jiným způsobem přihlášení. Použijte prosím ten.',
      signup_disabled:
        'Nemáte tu účet a nové účty nejsou povoleny. Obraťte se prosím na provozovatele tohoto serveru.',
      address_refused:
        'Nové účty nemohou mít vaši e-mailovou adresu: je jednorázová, obsahuje znaménko plus, nebo její doména nepřijímá poštu.',
      provider_error: 'Poskytovatel neodpověděl správně. Zkuste to prosím za chvíli znovu.',
      too_many_attempts: 'Z vaší sítě přišlo příliš mnoho přihlášení. Počkejte prosím minutu.',
      unavailable: 'Tento server vás teď nemůže přihlásit. Zkuste to prosím později.',
      other: 'Přihlášení se nezdařilo. Zkuste to prosím znovu.',
    },
    notFound: {
      title: 'Taková stránka neexistuje',
      text: 'Zkontrolujte prosím adresu.',
      home: 'Na úvodní stránku',
    },
    failed: {
      title: 'Něco se pokazilo',
      text: 'Zkuste to prosím za chvíli znovu.',
    },
  },
  pl: {
    home: {
      title: 'Zalogowano',
      text: 'Zalogowano jako {email}.',
      next: 'Nie ma jeszcze panelu. Podaj swojemu programowi id projektu oraz swoje hasło albo ciasteczko sesji:',
      docs: 'Przeczytaj dokumentację',
      logOut: 'Wyloguj się',
    },
    login: {
      title: 'Logowanie',
      with: 'Zaloguj się przez {provider}',
      api: 'Hasłem logujesz się przez API: POST /auth/login.',
      signUp: 'Nowe konto powstaje w ten sam sposób:',
      closed: 'Nowe konta zakłada operator tego serwera.',
    },
    failures: {
      access_denied: 'Logowanie zostało anulowane albo dostawca je odrzucił.',
      state_mismatch:
        'To logowanie nie zaczęło się w tej przeglądarce albo zostało już wykorzystane. Zaloguj się ponownie.',
      expired: 'Logowanie trwało zbyt długo. Zaloguj się ponownie.',
      email_unverified:
        'Twoje konto u dostawcy nie ma zweryfikowanego adresu e-mail. Zweryfikuj go tam i zaloguj się ponownie.',
      method_mismatch:
        'Twój adres e-mail ma już tutaj konto z innym sposobem logowania. Użyj tamtego sposobu.',
      signup_disabled:
        'Nie masz tutaj konta, a nowe konta są niedozwolone. Zwróć się do operatora tego serwera.',
      address_refused:
        'Nowe konta nie mogą mieć Twojego adresu e-mail: jest tymczasowy, zawiera znak plus albo jego domena nie odbiera poczty.',
      provider_error: 'Dostawca nie odpowiedział prawidłowo. Spróbuj ponownie za chwilę.',
      too_many_attempts: 'Z Twojej sieci było zbyt wiele logowań. Odczekaj minutę.',
      unavailable: 'Ten serwer nie może Cię teraz zalogować. Spróbuj ponownie później.',
      other: 'Logowanie nie powiodło się. Spróbuj ponownie.',
    },
    notFound: {
      title: 'Nie ma takiej strony',
      text: 'Sprawdź adres.',
      home: 'Do strony głównej',
    },
    failed: {
      title: 'Coś poszło nie tak',
      text: 'Spróbuj ponownie za chwilę.',
    },
  },
  es: {
    home: {
      title: 'Has iniciado sesión',
      text: 'Has iniciado sesión como {email}.',
      next: 'Todavía no hay un panel. Dale a tu programa el id de un proyecto, y tu contraseña o la cookie de una sesión:',
      docs: 'Leer la documentación',
      logOut: 'Cerrar sesión',
    },
    login: {
      title: 'Iniciar sesión',
      with: 'Iniciar sesión con {provider}',
      api: 'Con una contraseña se inicia sesión por la API: POST /auth/login.',
      signUp: 'Una cuenta nueva se crea de la misma manera:',
      closed: 'Las cuentas nuevas las crea el operador de este servidor.',
    },
    failures: {
      access_denied: 'Cancelaste el inicio de sesión o el proveedor lo rechazó.',
      state_mismatch:
        'Este inicio de sesión no empezó en este navegador o ya se usó. Vuelve a iniciar sesión.',
      expired: 'El inicio de sesión tardó demasiado. Vuelve a iniciar sesión.',
      email_unverified:
        'Tu cuenta en el proveedor no tiene una dirección de correo verificada. Verifícala allí y vuelve a iniciar sesión.',
      method_mismatch:
        'Tu dirección de correo ya tiene aquí una cuenta con otra forma de iniciar sesión. Usa esa forma.',
      signup_disabled:
        'No tienes una cuenta aquí y no se permiten cuentas nuevas. Pide una al operador de este servidor.',
      address_refused:
        'Las cuentas nuevas no pueden usar tu dirección de correo: es desechable, contiene un signo más o su dominio no recibe correo.',
      provider_error:
        'El proveedor no respondió como debía. Vuelve a intentarlo dentro de un momento.',
      too_many_attempts: 'Hubo demasiados inicios de sesión desde tu red. Espera un minuto.',
      unavailable:
        'Este servidor no puede iniciar tu sesión en este momento. Vuelve a intentarlo más tarde.',
      other: 'El inicio de sesión falló. Vuelve a intentarlo.',
    },
    notFound: {
      title: 'Esta página no existe',
      text: 'Comprueba la dirección.',
      home: 'Ir a la página de inicio',
    },
    failed: {
      title: 'Algo salió mal',
      text: 'Vuelve a intentarlo dentro de un momento.',
    },
  },
  it: {
    home: {
      title: 'Accesso effettuato',
      text: 'Hai effettuato l’accesso come {email}.',
      next: 'Non c’è ancora un pannello. Dai al tuo programma l’id di un progetto, e la tua password o il cookie di una sessione:',
      docs: 'Leggi la documentazione',
      logOut: 'Esci',
    },
    login: {
      title: 'Accedi',
      with: 'Accedi con {provider}',
      api: 'Con una password si accede tramite l’API: POST /auth/login.',
      signUp: 'Un nuovo account si crea allo stesso modo:',
      closed: 'I nuovi account li crea il gestore di questo server.',
    },
    failures: {
      access_denied: 'Hai annullato l’accesso oppure il provider lo ha rifiutato.',
      state_mismatch:
        'Questo accesso non è iniziato in questo browser oppure è già stato usato. Accedi di nuovo.',
      expired: 'L’accesso ha richiesto troppo tempo. Accedi di nuovo.',
      email_unverified:
        'Il tuo account presso il provider non ha un indirizzo email verificato. Verificalo lì e accedi di nuovo.',
      method_mismatch:
        'Il tuo indirizzo email ha già un account qui con un altro modo di accedere. Usa quello.',
      signup_disabled:
        'Non hai un account qui e non sono ammessi nuovi account. Chiedine uno al gestore di questo server.',
      address_refused:
        'I nuovi account non possono usare il tuo indirizzo email: è temporaneo, contiene un segno più, o il suo dominio non riceve posta.',
      provider_error: 'Il provider non ha risposto come dovrebbe. Riprova tra un momento.',
      too_many_attempts: 'Ci sono stati troppi accessi dalla tua rete. Attendi un minuto.',
      unavailable: 'Questo server non può farti accedere al momento. Riprova più tardi.',
      other: 'L’accesso non è riuscito. Riprova.',
    },
    notFound: {
      title: 'Questa pagina non esiste',
      text: 'Controlla l’indirizzo.',
      home: 'Alla pagina iniziale',
    },
    failed: {
      title: 'Qualcosa è andato storto',
      text: 'Riprova tra un momento.',
    },
  },
  'zh-TW': {
    home: {
      title: '您已登入',
      text: '您已以 {email} 登入。',
      next: '目前還沒有管理介面。請把專案的 id，以及您的密碼或工作階段的 cookie 交給您的程式：',
      docs: '閱讀文件',
      logOut: '登出',
    },
    login: {
      title: '登入',
      with: '使用 {provider} 登入',
      api: '若使用密碼，請透過 API 登入：POST /auth/login。',
      signUp: '新帳號也用同樣的方式建立：',
      closed: '新帳號由本伺服器的管理者建立。',
    },
    failures: {
      access_denied: '您已取消登入，或服務供應商拒絕了登入。',
      state_mismatch: '這次登入不是從此瀏覽器開始，或已經使用過。請重新登入。',
      expired: '登入花費的時間過長。請重新登入。',
      email_unverified:
        '您在服務供應商的帳戶沒有已驗證的電子郵件地址。請先在該處驗證，再重新登入。',
      method_mismatch: '您的電子郵件地址在此已有帳戶，並使用其他登入方式。請改用該方式。',
      signup_disabled: '您在此沒有帳戶，而且不開放新帳戶。請聯絡此伺服器的管理者。',
      address_refused:
        '新帳戶不能使用您的電子郵件地址：它是拋棄式地址、含有加號，或其網域不接收郵件。',
      provider_error: '服務供應商沒有正確回應。請稍後再試。',
      too_many_attempts: '您的網路登入次數過多。請等候一分鐘。',
      unavailable: '此伺服器目前無法讓您登入。請稍後再試。',
      other: '登入失敗。請再試一次。',
    },
    notFound: {
      title: '沒有這個頁面',
      text: '請檢查網址。',
      home: '前往首頁',
    },
    failed: {
      title: '發生錯誤',
      text: '請稍後再試。',
    },
  },
  'zh-HK': {
    home: {
      title: '您已登入',
      text: '您已以 {email} 登入。',
      next: '目前尚未有管理介面。請將項目的 id，以及你的密碼或工作階段的 cookie 交給你的程式：',
      docs: '閱讀文件',
      logOut: '登出',
    },
    login: {
      title: '登入',
      with: '使用 {provider} 登入',
      api: '如使用密碼，請透過 API 登入：POST /auth/login。',
      signUp: '新帳戶亦以同樣方式建立：',
      closed: '新帳戶由本伺服器的營運者建立。',
    },
    failures: {
      access_denied: '您已取消登入，或服務供應商拒絕了登入。',
      state_mismatch: '這次登入並非在此瀏覽器開始，或已經使用過。請重新登入。',
      expired: '登入需時過長。請重新登入。',
      email_unverified: '您在服務供應商的帳戶沒有已驗證的電郵地址。請先在該處驗證，然後重新登入。',
      method_mismatch: '您的電郵地址在此已有帳戶，並使用其他登入方式。請改用該方式。',
      signup_disabled: '您在此沒有帳戶，而且不接受新帳戶。請聯絡此伺服器的管理員。',
      address_refused: '新帳戶不能使用您的電郵地址：它是即棄地址、含有加號，或其網域不接收郵件。',
      provider_error: '服務供應商沒有正確回應。請稍後再試。',
      too_many_attempts: '您的網絡登入次數過多。請等候一分鐘。',
      unavailable: '此伺服器目前無法讓您登入。請稍後再試。',
      other: '登入失敗。請再試一次。',
    },
    notFound: {
      title: '沒有此頁面',
      text: '請檢查網址。',
      home: '前往主頁',
    },
    failed: {
      title: '發生錯誤',
      text: '請稍後再試。',
    },
  },
  'zh-CN': {
    home: {
      title: '您已登录',
      text: '您已以 {email} 登录。',
      next: '目前还没有管理界面。请把项目的 id，以及您的密码或会话的 cookie 交给您的程序：',
      docs: '阅读文档',
      logOut: '退出登录',
    },
    login: {
      title: '登录',
      with: '使用 {provider} 登录',
      api: '如使用密码，请通过 API 登录：POST /auth/login。',
      signUp: '新账号也用同样的方式创建：',
      closed: '新账号由本服务器的运营者创建。',
    },
    failures: {
      access_denied: '您已取消登录，或服务提供商拒绝了登录。',
      state_mismatch: '此次登录不是在此浏览器中开始的，或已经使用过。请重新登录。',
      expired: '登录用时过长。请重新登录。',
      email_unverified:
        '您在服务提供商的账户没有已验证的电子邮件地址。请先在那里验证，再重新登录。',
      method_mismatch: '您的电子邮件地址在此已有账户，并使用其他登录方式。请改用该方式。',
      signup_disabled: '您在此没有账户，而且不开放新账户。请联系此服务器的管理员。',
      address_refused:
        '新账户不能使用您的电子邮件地址：它是一次性地址、含有加号，或其域名不接收邮件。',
      provider_error: '服务提供商没有正确响应。请稍后再试。',
      too_many_attempts: '来自您网络的登录次数过多。请等待一分钟。',
      unavailable: '此服务器目前无法让您登录。请稍后再试。',
      other: '登录失败。请再试一次。',
    },
    notFound: {
      title: '没有此页面',
      text: '请检查网址。',
      home: '前往首页',
    },
    failed: {
      title: '出错了',
      text: '请稍后再试。',
    },
  },
  ja: {
    home: {
      title: 'ログインしています',
      text: '{email} としてログインしています。',
      next: '管理画面はまだありません。プロジェクトの id と、パスワードまたはセッションの Cookie をプログラムに渡してください：',
      docs: 'ドキュメントを読む',
      logOut: 'ログアウト',
    },
    login: {
      title: 'ログイン',
      with: '{provider} でログイン',
      api: 'パスワードでのログインは API で行います：POST /auth/login。',
      signUp: '新しいアカウントも同じ方法で作成します：',
      closed: '新しいアカウントはこのサーバーの管理者が作成します。',
    },
    failures: {
      access_denied: 'ログインがキャンセルされたか、プロバイダーに拒否されました。',
      state_mismatch:
        'このログインはこのブラウザーで開始されていないか、すでに使用されています。もう一度ログインしてください。',
      expired: 'ログインに時間がかかりすぎました。もう一度ログインしてください。',
      email_unverified:
        'プロバイダーのアカウントに確認済みのメールアドレスがありません。そちらで確認してから、もう一度ログインしてください。',
      method_mismatch:
        'このメールアドレスには、別のログイン方法のアカウントがすでにあります。その方法をお使いください。',
      signup_disabled:
        'ここにアカウントがなく、新しいアカウントは作成できません。このサーバーの管理者にお問い合わせください。',
      address_refused:
        'このメールアドレスでは新しいアカウントを作成できません。使い捨てのアドレスであるか、プラス記号を含むか、ドメインがメールを受信しません。',
      provider_error:
        'プロバイダーから正しい応答がありませんでした。しばらくしてからもう一度お試しください。',
      too_many_attempts: 'お使いのネットワークからのログインが多すぎます。1 分ほどお待ちください。',
      unavailable:
        '現在、このサーバーではログインできません。しばらくしてからもう一度お試しください。',
      other: 'ログインできませんでした。もう一度お試しください。',
    },
    notFound: {
      title: 'ページが見つかりません',
      text: 'アドレスをご確認ください。',
      home: 'トップページへ',
    },
    failed: {
      title: '問題が発生しました',
      text: 'しばらくしてからもう一度お試しください。',
    },
  },
  sv: {
    home: {
      title: 'Du är inloggad',
      text: 'Du är inloggad som {email}.',
      next: 'Det finns ingen översikt ännu. Ge ditt program ett projekts id, och ditt lösenord eller cookien för en session:',
      docs: 'Läs dokumentationen',
      logOut: 'Logga ut',
    },
    login: {
      title: 'Logga in',
      with: 'Logga in med {provider}',
      api: 'Med lösenord loggar du in via API:et: POST /auth/login.',
      signUp: 'Ett nytt konto skapas på samma sätt:',
      closed: 'Nya konton skapas av den som driver servern.',
    },
    failures: {
      access_denied: 'Du avbröt inloggningen, eller så nekade leverantören den.',
      state_mismatch:
        'Den här inloggningen påbörjades inte i den här webbläsaren, eller så har den redan använts. Logga in igen.',
      expired: 'Inloggningen tog för lång tid. Logga in igen.',
      email_unverified:
        'Ditt konto hos leverantören har ingen verifierad e-postadress. Verifiera den där och logga in igen.',
      method_mismatch:
        'Din e-postadress har redan ett konto här med ett annat sätt att logga in. Använd det.',
      signup_disabled:
        'Du har inget konto här, och nya konton är inte tillåtna. Kontakta den som driver servern.',
      address_refused:
        'Nya konton kan inte ha din e-postadress: den är en engångsadress, innehåller ett plustecken, eller så tar dess domän inte emot e-post.',
      provider_error: 'Leverantören svarade inte som den skulle. Försök igen om en stund.',
      too_many_attempts: 'Det har varit för många inloggningar från ditt nätverk. Vänta en minut.',
      unavailable: 'Den här servern kan inte logga in dig just nu. Försök igen senare.',
      other: 'Inloggningen misslyckades. Försök igen.',
    },
    notFound: {
      title: 'Sidan finns inte',
      text: 'Kontrollera adressen.',
      home: 'Till startsidan',
    },
    failed: {
      title: 'Något gick fel',
      text: 'Försök igen om en stund.',
    },
  },
  cy: {
    home: {
      title: 'Rydych wedi mewngofnodi',
      text: 'Rydych wedi mewngofnodi fel {email}.',
      next: 'Nid oes dangosfwrdd eto. Rhowch id prosiect i’ch rhaglen, a’ch cyfrinair neu gwci sesiwn:',
      docs: 'Darllen y ddogfennaeth',
      logOut: 'Allgofnodi',
    },
    login: {
      title: 'Mewngofnodi',
      with: 'Mewngofnodi gyda {provider}',
      api: 'Gyda chyfrinair, mewngofnodwch drwy’r API: POST /auth/login.',
      signUp: 'Gwneir cyfrif newydd yn yr un modd:',
      closed: 'Gweithredwr y gweinydd hwn sy’n creu cyfrifon newydd.',
    },
    failures: {
      access_denied: 'Rydych wedi canslo’r mewngofnodi, neu mae’r darparwr wedi’i wrthod.',
      state_mismatch:
        'Ni ddechreuwyd y mewngofnodi hwn yn y porwr hwn, neu mae eisoes wedi’i ddefnyddio. Mewngofnodwch eto.',
      expired: 'Cymerodd y mewngofnodi ormod o amser. Mewngofnodwch eto.',
      email_unverified:
        'Nid oes cyfeiriad e-bost wedi’i ddilysu gan eich cyfrif gyda’r darparwr. Dilyswch ef yno a mewngofnodwch eto.',
      method_mismatch:
        'Mae gan eich cyfeiriad e-bost gyfrif yma eisoes, gyda ffordd arall o fewngofnodi. Defnyddiwch honno.',
      signup_disabled:
        'Nid oes gennych gyfrif yma, ac ni chaniateir cyfrifon newydd. Gofynnwch i weithredwr y gweinydd hwn am un.',
      address_refused:
        'Ni all cyfrifon newydd ddefnyddio eich cyfeiriad e-bost: mae’n un dros dro, yn cynnwys arwydd plws, neu nid yw ei barth yn derbyn e-bost.',
      provider_error:
        'Ni wnaeth y darparwr ateb fel y dylai. Rhowch gynnig arall arni ymhen ychydig.',
      too_many_attempts: 'Bu gormod o fewngofnodi o’ch rhwydwaith. Arhoswch funud.',
      unavailable:
        'Ni all y gweinydd hwn eich mewngofnodi ar hyn o bryd. Rhowch gynnig arall arni yn nes ymlaen.',
      other: 'Methodd y mewngofnodi. Rhowch gynnig arall arni.',
    },
    notFound: {
      title: 'Nid oes tudalen o’r fath',
      text: 'Gwiriwch y cyfeiriad.',
      home: 'I’r dudalen gychwyn',
    },
    failed: {
      title: 'Aeth rhywbeth o’i le',
      text: 'Rhowch gynnig arall arni ymhen ychydig.',
    },
  },
}
