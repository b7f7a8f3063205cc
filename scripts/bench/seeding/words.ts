/** Names and places of the seeded contacts. */

export const firstNames = (
  'Anna Maria Elena Julia Laura Sophie Emma Mia Lena Sara Nina Clara Eva Ida Marta Olga Rosa Vera Zoe ' +
  'Alice Chloé Inès Lucía Noemi Freya Ingrid Astrid Zofia Agnieszka Katarzyna Ana Beatriz Camila ' +
  'Valentina Aisha Fatima Yuki Sakura Mei Priya Ananya Michael Thomas Daniel David Alexander Lukas ' +
  'Felix Paul Jonas Max Leon Jan Peter Martin Andreas Stefan Markus Oliver James William Henry ' +
  'George Jack Liam Noah Ethan Mateo Diego Carlos José Luis Pedro João Tiago Marco Luca Giovanni ' +
  'Matteo Pierre Louis Hugo Jules Sven Björn Lars Erik Mikkel Piotr Tomasz Ivan Dmitri Omar Hassan ' +
  'Ali Kenji Hiroshi Wei Arjun Rahul Kwame Chidi'
).split(' ')

export const lastNames = (
  'Müller Schmidt Schneider Fischer Weber Meyer Wagner Becker Schulz Hoffmann Koch Bauer Richter ' +
  'Klein Wolf Schröder Neumann Schwarz Braun Zimmermann Hartmann Krüger Lange Werner Keller Huber ' +
  'Gruber Steiner Moser Smith Jones Taylor Brown Williams Wilson Johnson Davies Robinson Wright ' +
  'Thompson Evans Walker White Roberts Green Hall Wood Jackson Clarke Martin Bernard Dubois Petit ' +
  'Durand Leroy Moreau Laurent Simon Lefebvre García Martínez López Sánchez Pérez Gómez Fernández ' +
  'Díaz Álvarez Romero Torres Navarro Silva Santos Oliveira Souza Pereira Costa Ferreira Rossi Russo ' +
  'Ferrari Esposito Bianchi Romano Colombo Ricci Andersson Johansson Karlsson Nilsson Larsen Hansen ' +
  'Olsen Kowalski Nowak Wójcik Ivanov Petrov Novák Horváth Nagy Tanaka Suzuki Sato Kim Lee Chen Wang ' +
  'Singh Patel Kumar Sharma Khan Okafor Mensah'
).split(' ')

export const cities = (
  'London Berlin Madrid Paris Rome Vienna Hamburg Warsaw Barcelona Munich Milan Prague Stockholm ' +
  'Amsterdam Lisbon Copenhagen Dublin Zürich Brussels Helsinki Oslo Athens Budapest Cologne Frankfurt ' +
  'Stuttgart Düsseldorf Leipzig Dresden Nuremberg Graz Linz Salzburg Bern Basel Geneva Lyon Marseille ' +
  'Toulouse Nice Nantes Bordeaux Lille Naples Turin Bologna Florence Venice Verona Seville Valencia ' +
  'Zaragoza Málaga Bilbao Porto Braga Antwerp Ghent Rotterdam Utrecht Eindhoven Aarhus Gothenburg ' +
  'Malmö Bergen Tampere Turku Tallinn Riga Vilnius Kraków Gdańsk Wrocław Poznań Łódź Brno Ostrava ' +
  'Bratislava Ljubljana Zagreb Split Belgrade Sofia Bucharest Cluj Timișoara Manchester Birmingham ' +
  'Leeds Glasgow Edinburgh Bristol Cardiff Belfast Cork Galway Boston Chicago Denver Seattle Austin ' +
  'Toronto Montreal Vancouver Sydney Melbourne Auckland Tokyo Osaka Singapore Mumbai Delhi'
).split(' ')

/** The ASCII spelling for a local part. */
export function toAscii(name: string): string {
  return name
    .toLowerCase()
    .replaceAll('ł', 'l')
    .replaceAll('ø', 'o')
    .normalize('NFD')
    .replace(/[^a-z]/g, '')
}
