-- The image runs this once with psql, as its superuser, while the volume is empty. The superuser is Temporal's too. The ledger has
-- two roles of its own: `ledger_owner`, by which `fiscalflow setup` makes the tables, and `ledger`, that of the workers, which gets
-- from it what it needs of them, and can change no event.
\getenv ledger_password LEDGER_PASSWORD
\getenv ledger_owner_password LEDGER_OWNER_PASSWORD
create role ledger_owner login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password :'ledger_owner_password';
create role ledger login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password :'ledger_password';
create database ledger owner ledger_owner;

-- Made here, and not by Temporal's tool, because everybody may connect to a new database until it is revoked.
create database temporal;
create database temporal_visibility;
revoke all on database ledger, temporal, temporal_visibility, postgres, template1 from public;
grant connect on database ledger to ledger;
